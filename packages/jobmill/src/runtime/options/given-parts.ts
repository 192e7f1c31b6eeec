/** Checks the parts that the caller passes to a mill: store, jobs, middleware, tracing and platform. */
import { isDeclaration } from '../../job/kind/declaration.ts'
import { type AnyJob, isDefinition } from '../../job/kind/definition.ts'
import { invalidValue } from '../../job/errors.ts'
import { onCancelledKind } from '../../job/attempt/on-cancelled.ts'
import { onDeadKind } from '../../job/attempt/on-dead.ts'
import { absentPartErrors, absentPartWarnings } from '../../store/absent-parts.ts'
import type { Tracing } from '../../job/tracing.ts'
import { type Platform, systemPlatform } from '../../platform/platform.ts'
import type { Store } from '../../store/store.ts'
import type { Middleware } from '../../work/handler.ts'
import type { Problems } from './problems.ts'

/** An older Node would fail later with an error that does not help. */
export function checkNode(found: Problems): void {
  if ('withResolvers' in Promise) return
  found.add('error', 'STORE_UNSUPPORTED', 'node', `${process.version} is too old. Use Node 22.14 or newer`)
}

export function checkStore(store: unknown, found: Problems): void {
  if (isStore(store)) {
    for (const warning of absentPartWarnings(store))
      found.add('warning', 'STORE_UNSUPPORTED', 'store', warning)
    return
  }
  const fix = "Pass sqlite('jobs.db') from jobmill/sqlite or postgres(url) from jobmill/postgres"
  throw invalidValue('store', store, 'must be a store', fix)
}

function isStore(store: unknown): store is Store<never> {
  return typeof store === 'object' && store !== null && 'claim' in store && 'open' in store
}

/** `used`: what the options declare in the optional parts of the store. */
export function checkParts(
  store: unknown,
  used: Parameters<typeof absentPartErrors>[1],
  found: Problems,
): void {
  if (!isStore(store)) return
  for (const [part, { code, message }] of absentPartErrors(store, used))
    found.add('error', code, part, message)
}

export function checkJobs(jobs: readonly unknown[], found: Problems): AnyJob[] {
  const unique = found.unique('KIND_REPEATED', 'a unique kind for each job')
  return found.items(jobs, 'jobs').flatMap((job, at) => {
    const option = `jobs[${at}]`
    if (!isDefinition(job)) {
      const problem = isDeclaration(job)
        ? 'has no handler. Pass implement(declaration, run)'
        : 'must be a job. Create it with defineJob({ kind, run })'
      found.add('error', 'OPTION_INVALID', option, problem)
      return []
    }
    unique(job.kind, option)
    if (job.onDead !== undefined) unique(onDeadKind(job.kind), option)
    if (job.onCancelled !== undefined) unique(onCancelledKind(job.kind), option)
    return [job]
  })
}

export function checkMiddleware(middleware: readonly unknown[], found: Problems): Middleware[] {
  return found.items(middleware, 'middleware').filter((one, at): one is Middleware => {
    if (typeof one === 'function') return true
    found.add(
      'error',
      'HANDLER_INVALID',
      `middleware[${at}]`,
      'must be a function. Pass (context, next) => …',
    )
    return false
  })
}

export function checkTracing(tracing: Tracing, field: string): Tracing {
  const given: unknown = tracing
  if (
    typeof given === 'object' &&
    given !== null &&
    typeof tracing.enqueue === 'function' &&
    typeof tracing.attempt === 'function'
  )
    return tracing
  const fix = 'Pass openTelemetry() from jobmill/opentelemetry, or omit it'
  throw invalidValue(field, given, 'must be a tracing object', fix)
}

/** Clocks and timers, for tests. */
export function checkPlatform(platform: unknown, field: string): Platform {
  const isComplete =
    typeof platform === 'object' &&
    platform !== null &&
    Object.keys(systemPlatform).every((name) => typeof platform[name as never] === 'function')
  if (isComplete) return platform as Platform
  const fix = 'Pass testPlatform() of jobmill/testing, or omit it'
  throw invalidValue(field, platform, 'must be a platform', fix)
}
