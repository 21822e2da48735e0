// Quiz answers in a typical service with Fastify and PostgreSQL: a connection pool, and a prepared INSERT
// for each answer.
import pg from 'pg';

const CONNECTIONS = 10;
const INSERT = {
  name: 'answer',
  text: `insert into answers (quiz, seat, choice, received) values ($1, $2, $3, $4)
         on conflict do nothing`,
};

/** @param viewerOf returns the claims of a request's token @param url an empty database */
export async function addAnswers(app, viewerOf, url) {
  const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS });
  await pool.query(`create table answers (quiz uuid not null, seat integer not null,
    choice smallint not null, received bigint not null, primary key (quiz, seat))`);
  const quizzes = new Map();

  app.post('/quizzes/:stream_id', async (request) => {
    const { choices, closesMs } = request.body;
    const id = crypto.randomUUID();
    quizzes.set(id, { streamId: request.params.stream_id, choices, closesMs });
    return { id };
  });

  const answer = {
    type: 'object',
    required: ['streamId', 'choice', 'closeInterval'],
    properties: {
      streamId: { type: 'string', format: 'uuid' },
      choice: { type: 'string' },
      closeInterval: { type: 'integer' },
    },
  };
  app.post(
    '/api/v1/quizzes/:quiz_id/answer',
    { schema: { body: answer } },
    async (request, reply) => {
      const { stream_id: streamId, seat } = viewerOf(request);
      const quiz = quizzes.get(request.params.quiz_id);
      if (request.body.streamId !== streamId) return reply.code(401).send();
      if (quiz?.streamId !== streamId) return reply.code(404).send();
      const choice = quiz.choices.indexOf(request.body.choice);
      if (choice < 0) return reply.code(400).send();
      const nowMs = Date.now();
      if (nowMs >= quiz.closesMs) return reply.code(409).send();
      const values = [request.params.quiz_id, seat, choice, nowMs];
      const { rowCount } = await pool.query({ ...INSERT, values });
      return reply.code(rowCount === 1 ? 204 : 409).send();
    },
  );

  app.get('/quizzes/:quiz_id/count', async (request) => {
    const { rows } = await pool.query(
      'select count(*)::int as count from answers where quiz = $1',
      [request.params.quiz_id],
    );
    return rows[0];
  });
}
