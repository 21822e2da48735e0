import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { useState } from 'react';
import { RouterProvider } from 'react-aria-components';
import { Route, Router, Switch, useLocation } from 'wouter';
import { browserClientEnvironment } from './api/browser-client-environment.ts';
import { StudioClient } from './api/studio-client.ts';
import { StudioContext } from './api/studio-context.ts';
import { OnAirPage } from './on-air/on-air-page.tsx';
import { RehearsalPage } from './rehearsal/rehearsal-page.tsx';
import { ReportPage } from './report/report-page.tsx';
import { RundownPage } from './rundown/rundown-page.tsx';
import { SessionGate } from './session/session-gate.tsx';
import { AppShell } from './shell/app-shell.tsx';
import { NotFoundPage } from './shell/not-found-page.tsx';
import { CameraStore } from './source/camera.ts';
import { CameraContext } from './source/camera-context.ts';
import { SetUpPage } from './streams/set-up-page.tsx';
import { StreamsPage } from './streams/streams-page.tsx';
import { TeamPage } from './team/team-page.tsx';
import { TokensPage } from './tokens/tokens-page.tsx';
import { WebhookPage } from './webhooks/webhook-page.tsx';
import { WebhooksPage } from './webhooks/webhooks-page.tsx';
import { YouPage } from './you/you-page.tsx';

/** The studio with everything that its pages share. */
export function StudioApp() {
  const [queries] = useState(() => new QueryClient());
  const [studio] = useState(() => new StudioClient(browserClientEnvironment()));
  const [camera] = useState(() => new CameraStore());
  return (
    <QueryClientProvider client={queries}>
      <StudioContext value={studio}>
        <CameraContext value={camera}>
          <SessionGate>
            <Router base="/studio">
              <Pages />
            </Router>
          </SessionGate>
        </CameraContext>
      </StudioContext>
    </QueryClientProvider>
  );
}

function Pages() {
  const [, goTo] = useLocation();
  return (
    <RouterProvider navigate={goTo}>
      <AppShell>
        <Switch>
          <Route path="/" component={StreamsPage} />
          <Route path="/streams/:id">{({ id }) => <SetUpPage streamId={id} />}</Route>
          <Route path="/streams/:id/rundown">{({ id }) => <RundownPage streamId={id} />}</Route>
          <Route path="/streams/:id/rehearsal">{({ id }) => <RehearsalPage streamId={id} />}</Route>
          <Route path="/streams/:id/on-air">{({ id }) => <OnAirPage streamId={id} />}</Route>
          <Route path="/streams/:id/report">{({ id }) => <ReportPage streamId={id} />}</Route>
          <Route path="/team" component={TeamPage} />
          <Route path="/you" component={YouPage} />
          <Route path="/tokens" component={TokensPage} />
          <Route path="/webhooks" component={WebhooksPage} />
          <Route path="/webhooks/:id">{({ id }) => <WebhookPage webhookId={id} />}</Route>
          <Route component={NotFoundPage} />
        </Switch>
      </AppShell>
    </RouterProvider>
  );
}
