import type { ReadyReport } from '../../protocol/report.ts';
import type { StudioStream } from '../../protocol/studio.ts';
import { Panel } from '../ui/panel.tsx';
import { ChatFigures } from './chat-figures.tsx';
import { Downloads } from './downloads.tsx';
import { fairnessSentences } from './fairness-sentences.ts';
import { Figures } from './figures.tsx';
import { QuizReports } from './quiz-reports.tsx';
import { texts } from './texts.ts';
import { Timeline } from './timeline.tsx';
import { useCanShowRecording, useRecording } from './use-recording.ts';
import { Winners } from './winners.tsx';

export function ReadyView({ stream, report }: { stream: StudioStream; report: ReadyReport }) {
  const recording = useRecording();
  const canShow = useCanShowRecording(recording, report.recording.hls_url);
  return (
    <div className="grid gap-4 *:min-w-0 print-parts">
      <Figures report={report} />
      <Timeline key={report.made} report={report} recording={recording} />
      <div className="grid items-start gap-4 *:min-w-0 xl:grid-cols-[2fr_1fr] print-parts">
        <QuizReports quizzes={report.quizzes} recording={canShow ? recording : null} />
        <div className="grid items-start gap-4 *:min-w-0 sm:grid-cols-2 xl:grid-cols-1 print-parts">
          <Panel title={texts.fairness.title}>
            <div className="grid gap-2">
              {fairnessSentences(report).map((sentence) => (
                <p key={sentence}>{sentence}</p>
              ))}
            </div>
          </Panel>
          <Winners streamId={stream.id} report={report} />
          <ChatFigures chat={report.chat} />
          <Downloads streamId={stream.id} />
        </div>
      </div>
    </div>
  );
}
