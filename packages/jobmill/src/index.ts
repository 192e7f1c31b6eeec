/**
 * `jobmill`: the API for users and for authors of stores. Contains no database driver: import a store from
 * `jobmill/sqlite` or `jobmill/postgres`.
 */
export { type Enqueuer, enqueuer, type EnqueuerOptions } from './enqueue/enqueuer.ts'
export { type Client } from './enqueue/client.ts'
export type { Run, RunOptions } from './enqueue/run.ts'
export type { Backoff, Failure, Jitter } from './job/attempt/backoff.ts'
export type { DeadContext, InstanceInfo, JobContext, JobInfo, JobLog, LogLevel } from './job/context.ts'
export { declareJob, type JobDeclaration, type JobPolicy } from './job/declaration.ts'
export {
  type AnyJob,
  defineJob,
  type DefineJob,
  implement,
  type Implement,
  type JobDefinition,
  type JobHandler,
  withContext,
} from './job/definition.ts'
export { BOUNDS, DEFAULTS } from './job/defaults.ts'
export { type Duration, durationMs } from './job/duration.ts'
export { type ErrorCode, type ErrorDetails, ERRORS, isJobmillError, JobmillError } from './job/errors.ts'
export { errorText } from './job/text/error-text.ts'
export type { AttemptRef, EventTable, EventType, JobRef, MillEvent } from './job/events.ts'
export type { LimitOptions, LimitSettings } from './job/limit/limit.ts'
export type {
  AcquireOptions,
  DrainLimitOptions,
  LimitDraw,
  WaitingDraw,
  LimitHandle,
  LimitInside,
  LimitOf,
  Permit,
} from './job/limit/limit-handle.ts'
export { boundOf, type Histogram, type MetricData, mergeData, percentile } from './job/metric-data.ts'
export type { EnqueuedJob, EnqueueItem, EnqueueOptions, JobHandle, ResultOptions } from './job/handle.ts'
export { checkObjectKeys } from './job/options/known-keys.ts'
export { checkBoolean, checkFunction, checkPlatform, checkWhole } from './job/numbers.ts'
export { checkName } from './job/names.ts'
export { Interruption, type InterruptionCause, isInterruption } from './job/attempt/interruption.ts'
export type { Dedupe, DedupeScope, HoldAfter, NewJob } from './job/new-job.ts'
export { type Outcome, OUTCOMES } from './job/attempt/outcome.ts'
export { type DedupeRequest, type JobRequest, prepareJobs, type PrepareOptions } from './job/prepare-jobs.ts'
export {
  DEFAULT_QUEUE_SETTINGS,
  prepareQueueChange,
  type QueueChange,
  type QueuePatch,
  type QueueSettings,
  type Retention,
} from './job/queue/queue-settings.ts'
export type { Missed, Overlap, ScheduleDefinition, SchedulePatch } from './job/schedule/schedule.ts'
export type { ScheduleChange, ScheduleOptions } from './job/schedule/schedule-options.ts'
export { Dead, Snooze, Throttled } from './job/attempt/thrown.ts'
export type { AttemptTrace, TracedJob, TraceIds, Tracing } from './job/tracing.ts'
export { type EndedState, isEnded, JOB_STATES, type JobState } from './job/state.ts'
export type { EventCounts, Listener } from './observe/event-hub.ts'
export { consoleLogger } from './observe/log-events.ts'
export type { FieldsFirstLogger, LogFunction, Logger } from './observe/logger.ts'
export { loggerFor, type LogOption } from './runtime/options/log-option.ts'
export type { CustomMetricLabels, CustomMetricLabelValues } from './observe/prometheus/custom-labels.ts'
export type { CustomMetrics } from './observe/prometheus/custom-metrics.ts'
export type {
  CounterOptions,
  CustomMetricOptions,
  GaugeOptions,
  GaugeReading,
  HistogramOptions,
  OwnCounter,
  OwnHistogram,
} from './observe/prometheus/custom-options.ts'
export { type Platform, systemPlatform, type Timer } from './platform/platform.ts'
export type { ClaimRequest, Held, Lease } from './store/types/claim.ts'
export type { CoolDown, Finish, Finished, Progress, Transition } from './store/types/finish.ts'
export type { InstanceRecord, NewInstance, Heartbeat, HeartbeatRequest } from './store/types/instance.ts'
export type { JobFilter, JobPage, PageRequest } from './store/types/job-list.ts'
export type {
  DatabaseHealth,
  Dropped,
  DiagnoseOptions,
  Diagnostic,
  DatabaseAdmin,
  PinningSession,
  SchemaStatus,
  TableHealth,
} from './store/admin/admin.ts'
export type { AttemptRecord, JobFailure, JobRecord, JobResult, JobSummary } from './store/types/job-record.ts'
export type { PayloadAt } from './store/payload-at.ts'
export type { QueueCounts, QueueRecord, UnservedKind } from './store/types/queue-record.ts'
export type { DutyBid, DutyRecord, Slot, SlotChange } from './store/types/duty.ts'
export type { LimitRecord, PermitOf, AcquireRequest, Acquired } from './store/types/limit.ts'
export type {
  MetricDelta,
  MetricOwn,
  MetricQuery,
  MetricRecord,
  NewTimelineEvent,
  Recording,
  Resolution,
  TimelineEvent,
  TimelineQuery,
} from './store/types/metrics.ts'
export type {
  Enqueued,
  Reaped,
  ReapedJob,
  Retained,
  RetainRequest,
  Staged,
  Verdict,
} from './store/types/replies.ts'
export type { WakeUp } from './store/types/wake-up.ts'
export type {
  DeclaredSchedule,
  ScheduleRecord,
  Tick,
  Ticked,
  TickOutcome,
  TickRecord,
} from './store/types/schedule.ts'
export type { FullStore, JobStore, Store, ToolStore, TxOf } from './store/store.ts'
export type {
  InspectPart,
  InstancesPart,
  LimitsPart,
  MetricsPart,
  NotifierPart,
  OverridesPart,
  QueuesPart,
  RemoteDispatch,
  SchedulesPart,
} from './store/parts.ts'
export type { Audit, AuditEntry, AuditPage, AuditQuery, AuditRecord } from './runtime/operate/audit.ts'
export type {
  Bulk,
  BulkAct,
  BulkFilter,
  BulkOptions,
  BulkPreview,
  BulkReport,
  BulkRun,
} from './runtime/operate/bulk.ts'
export type { ConfigDrift } from './runtime/diagnose/config-drift.ts'
export type { OwnDuty } from './runtime/options/duty-options.ts'
export type { ErrorGroup, ErrorReport, ErrorsQuery } from './runtime/operate/errors.ts'
export type { About } from './runtime/diagnose/diagnose.ts'
export type { NeedsAttention } from './runtime/diagnose/diagnostics.ts'
export type { KindView } from './runtime/operate/kinds.ts'
export type { LimitChange, MillLimits } from './runtime/operate/limits.ts'
export type { ListedState, ListFilter } from './runtime/operate/list-filter.ts'
export type {
  CountOptions,
  Includable,
  JobCount,
  ListedJob,
  ListPage,
  ListRequest,
} from './runtime/operate/list-jobs.ts'
export type { ByOption, OverrideSelection, OverridesApi, OverrideView } from './runtime/operate/overrides.ts'
export type {
  Metrics,
  MetricsQuery,
  TimelineEntry,
  TimelinePage,
  TimelineRequest,
} from './runtime/report/observation.ts'
export type { Readiness, ReadyCheck } from './runtime/diagnose/readiness.ts'
export type { RetainOptions } from './runtime/options/retain-options.ts'
export type { NewSchedule, Schedules, Triggered } from './runtime/operate/schedules.ts'
export type { ScheduleView } from './runtime/operate/schedule-view.ts'
export type { InstanceSeries, LimitSeries, QueueSeries } from './runtime/report/series.ts'
export type { DatabaseResources, PoolUsage } from './store/admin/resources.ts'
export type { ResourcesView } from './runtime/report/resources.ts'
export type { SystemDuty, SystemView } from './runtime/report/system.ts'
export type { DutyView } from './runtime/operate/duty-control.ts'
export type { Counts } from './upkeep/duty.ts'
export type { DutyStatus } from './upkeep/duty-log.ts'
export type { AttemptView, JobView } from './runtime/operate/job-view.ts'
export type { StopOptions } from './runtime/lifecycle.ts'
export { checkOptions, jobmill, type Mill } from './runtime/mill.ts'
export type { CancelOptions, OperateAnswer } from './runtime/operate/operate.ts'
export type { InstanceOptions } from './runtime/options/label.ts'
export type { MillOptions } from './runtime/options/options.ts'
export type { Problem } from './runtime/options/problems.ts'
export type { QueueOptions } from './runtime/options/queue-options.ts'
export type { Route } from './runtime/options/route.ts'
export { stopOnSignals } from './runtime/stop-on-signals.ts'
export { type Reason, type ReasonName, REASONS, type Why } from './runtime/diagnose/why.ts'
export type { StopReport } from './work/stop-in-stages.ts'
export type { Middleware } from './work/handler.ts'
export type { LogLine } from './work/log-buffer.ts'
export { type CommandOptions, type CommandResult, commandJob } from './work/handlers/command.ts'
export type { CommandPayload } from './work/handlers/command-payload.ts'
export { demoEcho, type DemoEchoPayload } from './work/handlers/demo-echo.ts'
export { workerPool } from './work/handlers/worker-pool.ts'
export type { WorkerPoolOptions } from './work/handlers/pool-options.ts'
