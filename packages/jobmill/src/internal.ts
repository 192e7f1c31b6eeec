/**
 * `jobmill/internal`: what the other packages of this repository share with the core. It may change in any
 * release.
 */
export { type Enqueuer, enqueuer } from './enqueue/enqueuer.ts'
export { BOUNDS, DEFAULTS } from './job/defaults.ts'
export { durationMs } from './job/duration.ts'
export { checkName } from './job/names.ts'
export { checkBoolean, checkFunction, checkPlatform, checkWhole } from './job/numbers.ts'
export { checkObjectKeys } from './job/options/known-keys.ts'
export { type JobRequest, prepareJobs } from './job/prepare-jobs.ts'
export { prepareQueueChange } from './job/queue/queue-settings.ts'
export { isEnded } from './job/state.ts'
export type { EventCounts } from './observe/event-hub.ts'
export type { CustomMetricLabels } from './observe/prometheus/custom-labels.ts'
export type { GaugeReading } from './observe/prometheus/custom-options.ts'
export { systemPlatform, type Timer } from './platform/platform.ts'
export { REASONS } from './runtime/diagnose/why.ts'
export type { AuditPage } from './runtime/operate/audit.ts'
export type { ByOption } from './runtime/operate/overrides.ts'
export { loggerFor } from './runtime/options/log-option.ts'
export type { JobFilter } from './store/types/job-list.ts'
