import pino from 'pino';
import { PATIENT_ENVIRONMENT } from '../../../test/support/backends/patient-environment.ts';
import { startRedis } from '../../../test/support/backends/redis.ts';
import { redisOfFile } from '../../../test/support/backends/redis-of-file.ts';
import {
  type RestartableBackend,
  sealCoordinatorContract,
} from '../../../test/support/coordination/seal-coordinator-contract.ts';
import { modelOfFile, startModel } from '../../../test/support/simulation/redis/model-of-file.ts';
import { openRedis } from '../../storage/redis/open-redis.ts';

async function startServer(): Promise<RestartableBackend> {
  const server = await startRedis();
  const logger = pino({ level: 'silent' });
  const redis = await openRedis({
    ...{ url: server.url, replicas: 0, logger },
    environment: PATIENT_ENVIRONMENT,
  });
  return {
    server,
    redis,
    async restart() {
      await server.command('WAITAOF', 1, 0, 0).catch(() => Bun.sleep(1_100));
      await server.restart();
    },
    async stop() {
      await redis.close();
      await server.stop();
    },
  };
}

async function startAnotherModel(): Promise<RestartableBackend> {
  const server = startModel({ appendOnlyFile: true });
  const redis = await server.open();
  return {
    server,
    redis,
    restart: async () => server.model.restart({ keepsData: true }),
    stop: () => redis.close(),
  };
}

sealCoordinatorContract('Redis', {
  ...(await redisOfFile({}, PATIENT_ENVIRONMENT)),
  startAnother: startServer,
});
sealCoordinatorContract('the model of Redis', {
  ...(await modelOfFile()),
  startAnother: startAnotherModel,
});
