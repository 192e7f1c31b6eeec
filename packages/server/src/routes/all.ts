/** All routes below /api, in the order of the OpenAPI document. */
import * as alerts from './alerts.ts'
import * as apps from './apps.ts'
import * as charts from './observe/charts.ts'
import * as errors from './errors.ts'
import * as events from './observe/events.ts'
import * as groups from './groups.ts'
import * as history from './observe/history.ts'
import * as jobActs from './job-acts.ts'
import * as jobs from './jobs.ts'
import * as limits from './limits.ts'
import * as overrides from './overrides.ts'
import * as overview from './observe/overview.ts'
import * as queues from './queues.ts'
import * as schedules from './schedules.ts'
import * as steps from './steps.ts'
import * as system from './system.ts'
import * as views from './views.ts'

export const FILES = [
  overview,
  jobs,
  jobActs,
  steps,
  errors,
  queues,
  groups,
  schedules,
  limits,
  alerts,
  views,
  overrides,
  system,
  history,
  charts,
  events,
  apps,
] as const
