/**
 * The JSON of the API, inferred from the schemas of the server. Types only: the bundle contains no code of
 * the server. Times are milliseconds since 1970.
 */
import type { ApiBodies, ApiProblem, ApiResponses } from 'jobmill-server'

/** Read-only, because components share one cached response. JSON has no undefined values. */
type Json<T> = T extends object ? { readonly [Key in keyof T]: Json<Exclude<T[Key], undefined>> } : T

/** The response of a route, by its name: `Answer<'jobs.inspect'>`. */
export type Answer<Name extends keyof ApiResponses> = Json<ApiResponses[Name]>
/** The request body of a route. */
export type Body<Name extends keyof ApiBodies> = Json<ApiBodies[Name]>
export type ProblemBody = Json<ApiProblem>

export type JobPage = Answer<'jobs.list'>
export type JobSummary = JobPage['jobs'][number]
export type State = JobSummary['state']
export type Inspected = Answer<'jobs.inspect'>
export type Job = Inspected['job']
export type Step = Answer<'jobs.steps'>['steps'][number]
export type LogLine = Job['log'][number]
export type Attempt = Inspected['attempts'][number]
export type Outcome = Attempt['outcome']
export type Reason = Inspected['why']['reasons'][number]
export type Policy = Inspected['policy']
export type BulkAct = Body<'bulk.run'>['act']
/** A filter in the request body of a bulk action. */
export type FilterBody = Body<'bulk.run'>['filter']
export type BulkPreview = Answer<'bulk.preview'>
/** A state that a list can be filtered by. `retrying`: scheduled jobs whose last attempt failed. */
export type ListedState = keyof BulkPreview['byState']
export type Errors = Answer<'errors.list'>
export type ErrorGroup = Errors['groups'][number]
export type Version = Answer<'versions.list'>['versions'][number]
export type EnqueuedJob = Answer<'jobs.enqueue'>

export type SavedView = Answer<'views.list'>['views'][number]

export type Overview = Answer<'overview.read'>
export type QueueAndCounts = Overview['queues'][number]
export type Queue = QueueAndCounts['settings']
export type Group = Answer<'groups.list'>['groups'][number]
export type Health = QueueAndCounts['health']
export type Counts = QueueAndCounts['counts']
export type UnservedKind = Overview['unservedKinds'][number]
export type Capacity = Answer<'queues.capacity'>['queues'][number]
export type Forecast = Capacity['forecast']
export type Limit = Overview['limits'][number]
export type Alert = Answer<'alerts.list'>['alerts'][number]
/** The name of a check of the diagnostics. */
export type CheckName = NonNullable<Alert['checks']>[number]
export type Workers = Answer<'workers.list'>
export type Instance = Workers['instances'][number]
export type RecentRun = Answer<'workers.runs'>['runs'][number]
export type Slot = Workers['slots'][number]
export type InspectedSchedule = Answer<'schedules.inspect'>
export type Schedule = InspectedSchedule['schedule']
export type ListedSchedule = Answer<'schedules.list'>['schedules'][number]
export type Tick = InspectedSchedule['history'][number]
export type Override = Answer<'overrides.list'>['overrides'][number]
export type Kind = Answer<'kinds.list'>['kinds'][number]
export type App = Answer<'apps.list'>['apps'][number]

export type Series = Answer<'series.read'>
export type InstanceMetrics = Series['instances'][number]['all']
export type KindMetrics = Series['kinds'][number]['all']
export type LimitMetrics = Series['limits'][number]['all']
/** The mean and the maximum of a gauge, which is sampled every 10 s. */
export type Gauge = NonNullable<InstanceMetrics['cpu']>
export type TimelineEntry = Answer<'timeline.read'>['events'][number]
export type AuditEntry = Answer<'audit.read'>['entries'][number]
export type Resources = Answer<'resources.read'>
export type System = Answer<'system.read'>
export type Diagnostic = Answer<'diagnostics.list'>['diagnostics'][number]
