import { describe, expect, test } from 'bun:test';
import { Templates } from '../support/deploy/template.ts';

describe('the templates of the tests', () => {
  test.each([
    ['{{ .Values.a | default "x" | quote }}', { Values: { a: '' } }, '"x"'],
    ['a\n{{- if .b }} yes {{- else }} no {{- end }}\nc', { b: [] }, 'a no\nc'],
    ['{{ range $k, $v := .m }}{{ $k }}={{ $v }};{{ end }}', { m: { b: 2, a: 1 } }, 'a=1;b=2;'],
    ['{{/* a word */ -}}   x', {}, 'x'],
    ['{{ with .a }}{{ .b }}{{ end }}', { a: { b: 'in' } }, 'in'],
    ['{{ if and .a (not .b) }}1{{ else if .b }}2{{ end }}', { a: 1, b: 2 }, '2'],
  ])('%s', (text, data, result) => {
    const one = new Templates();
    one.add('t', text);
    expect(one.render('t', data)).toBe(result);
  });

  test.each(['{{ if .a }}', '{{ end }}', '{{ nothing .a }}', '{{ $a }}', '{{ (.a }}', '{{ % }}'])(
    'what they do not understand is an error: %s',
    (text) => {
      const attempt = () => {
        const one = new Templates();
        one.add('t', text);
        return one.render('t', {});
      };
      expect(attempt).toThrow();
    },
  );
});
