/** The routes of the dashboard. */
import { Route, Router, Switch } from 'wouter'
import { asksForToken, BASE } from './api/client.ts'
import { useOverview } from './api/reads.ts'
import { TextLink } from './kit/button.tsx'
import { PageHead } from './kit/card.tsx'
import { Failed } from './kit/data-view.tsx'
import { TipLayer } from './kit/overlays/tip.tsx'
import { Toasts } from './kit/overlays/toasts.tsx'
import { ErrorsPage } from './pages/errors/errors-page.tsx'
import { JobPage } from './pages/job/job-page.tsx'
import { JobsPage } from './pages/jobs/jobs-page.tsx'
import { KindPage } from './pages/kinds/kind-page.tsx'
import { KindsPage } from './pages/kinds/kinds-page.tsx'
import { LimitsPage } from './pages/limits/limits-page.tsx'
import { OverviewPage } from './pages/overview/overview-page.tsx'
import { QueuesPage } from './pages/queues/queues-page.tsx'
import { SchedulePage } from './pages/schedules/schedule-page.tsx'
import { SchedulesPage } from './pages/schedules/schedules-page.tsx'
import { SystemPage } from './pages/system/system-page.tsx'
import { WorkersPage } from './pages/workers/workers-page.tsx'
import { Frame } from './shell/frame.tsx'
import { Palette } from './shell/palette/palette.tsx'
import { Shortcuts } from './shell/shortcuts.tsx'
import { SignIn } from './shell/sign-in.tsx'
import { SignedOut } from './shell/signed-out.tsx'
import { useAppPlaces } from './shell/use-app-places.ts'

export function App() {
  return (
    <Router base={BASE.replace(/\/$/, '')}>
      <Pages />
      <Toasts />
      <TipLayer />
    </Router>
  )
}

/** A name that cannot be decoded is shown undecoded. */
function decode(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

function Pages() {
  const { data, error, refetch } = useOverview()
  const appPlaces = useAppPlaces()
  if (error?.status === 401) return asksForToken(error) ? <SignIn /> : <SignedOut />
  if (data === undefined && error !== null) return <Failed problem={error} again={() => void refetch()} />
  return (
    <Frame>
      <Shortcuts />
      <Palette />
      <Switch>
        <Route path="/" component={OverviewPage} />
        <Route path="/jobs" component={JobsPage} />
        <Route path="/jobs/:id">{({ id }) => <JobPage key={id} id={id} />}</Route>
        <Route path="/errors" component={ErrorsPage} />
        <Route path="/queues" component={QueuesPage} />
        <Route path="/kinds" component={KindsPage} />
        <Route path="/kinds/:name">{({ name }) => <KindPage key={name} kind={decode(name)} />}</Route>
        <Route path="/workers" component={WorkersPage} />
        <Route path="/schedules" component={SchedulesPage} />
        <Route path="/schedules/:name">{({ name }) => <SchedulePage key={name} name={decode(name)} />}</Route>
        <Route path="/limits" component={LimitsPage} />
        <Route path="/system" component={SystemPage} />
        {appPlaces?.map(({ path, component: Page }) => (
          <Route key={path} path={`${path}/:item?`}>
            {({ item }) => (item === undefined ? <Page /> : <Page key={item} item={decode(item)} />)}
          </Route>
        ))}
        {appPlaces === null && <Route path="/apps/*">{null}</Route>}
        <Route>
          <PageHead title="Page not found" />
          <TextLink to="/">Go to overview</TextLink>
        </Route>
      </Switch>
    </Frame>
  )
}
