/**
 * `jobmill`: the API for applications. Contains no database driver: import a store from `jobmill/sqlite` or
 * `jobmill/postgres`. Authors of stores import `jobmill/store`.
 */
export type { RunOptions } from './enqueue/run.ts'
export type { AlertOptions } from './job/alert/alert-options.ts'
export type { Backoff } from './job/attempt/backoff.ts'
export { Interruption, isInterruption } from './job/attempt/interruption.ts'
export type { Outcome } from './job/attempt/outcome.ts'
export { Dead, Snooze, Throttled } from './job/attempt/thrown.ts'
export type { CancelledContext, DeadContext, JobContext, JobInfo } from './job/context.ts'
export { declareJob, type JobDeclaration } from './job/kind/declaration.ts'
export type { ChunkContext } from './job/kind/chunk.ts'
export { type AnyJob, defineJob, implement, type JobDefinition, withContext } from './job/kind/definition.ts'
export type { JobHandler } from './job/kind/job-handler.ts'
export type { Duration } from './job/duration.ts'
export { type ErrorCode, isJobmillError, JobmillError } from './job/errors.ts'
export type { EventType, MillEvent } from './job/events.ts'
export type {
  EnqueuedJob,
  EnqueueItem,
  EnqueueOptions,
  JobHandle,
  ResultOptions,
} from './job/enqueue/handle.ts'
export type { JobKind } from './job/kind/job-kind.ts'
export type { Permit } from './job/limit/limit-handle.ts'
export type { LimitOptions } from './job/limit/limit.ts'
export type { DebounceRequest, DedupeRequest } from './job/enqueue/dedupe-options.ts'
export type { QueueChange } from './job/queue/queue-settings.ts'
export type { ScheduleOptions } from './job/schedule/schedule-options.ts'
export type { JobState } from './job/state.ts'
export { ChildFailed } from './job/step/child-failed.ts'
export type { Step, StepContext } from './job/step/step.ts'
export type { Tracing } from './job/tracing.ts'
export type { Listener } from './observe/event-hub.ts'
export type {
  CounterOptions,
  GaugeOptions,
  HistogramOptions,
  OwnCounter,
  OwnHistogram,
} from './observe/prometheus/custom-options.ts'
export type { Logger } from './observe/log/logger.ts'
export type { Platform } from './platform/platform.ts'
export type { AlertView } from './runtime/alerts/alerts.ts'
export type { Readiness } from './runtime/diagnose/readiness.ts'
export type { Why } from './runtime/diagnose/why.ts'
export type { StopOptions } from './runtime/lifecycle.ts'
export { checkOptions, jobmill } from './runtime/jobmill.ts'
export type { Mill } from './runtime/mill.ts'
export { bulkJob } from './runtime/operate/bulk/bulk-job.ts'
export type { BulkFilter } from './runtime/operate/bulk/bulk.ts'
export type { JobView } from './runtime/operate/job-view.ts'
export type { ListFilter } from './runtime/operate/list-filter.ts'
export type { ListedJob } from './runtime/operate/list-jobs.ts'
export type { ScheduleView } from './runtime/operate/schedule-view.ts'
export type { OwnDuty } from './runtime/options/duty-options.ts'
export type { LogOption } from './runtime/options/log-option.ts'
export type { MillOptions } from './runtime/options/options.ts'
export type { QueueOptions } from './runtime/options/queue-options.ts'
export type { RetainOptions } from './runtime/options/retain-options.ts'
export { stopOnSignals } from './runtime/stop-on-signals.ts'
export type { Diagnostic } from './store/admin/admin.ts'
export type { FullStore, Store } from './store/store.ts'
export type { Middleware } from './work/handler.ts'
export { commandJob, type CommandOptions } from './work/handlers/command.ts'
export { demoEcho } from './work/handlers/demo-echo.ts'
export { workerPool, type WorkerPoolOptions } from './work/handlers/worker-pool.ts'
export type { StopReport } from './work/stop-in-stages.ts'
