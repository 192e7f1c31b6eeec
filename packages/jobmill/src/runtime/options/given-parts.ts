/** Checks the parts that the caller passes to a mill: store, jobs and middleware. */
import { isDeclaration } from '../../job/declaration.ts'
import { type AnyJob, isDefinition } from '../../job/definition.ts'
import { JobmillError, quote } from '../../job/errors.ts'
import { onDeadKind } from '../../job/attempt/on-dead.ts'
import { absentPartWarnings } from '../../store/absent-parts.ts'
import type { Store } from '../../store/store.ts'
import type { Middleware } from '../../work/handler.ts'
import type { Problems } from './problems.ts'

/** An older Node would fail later with an error that does not help. */
export function checkNode(found: Problems): void {
  if ('withResolvers' in Promise) return
  found.add('error', 'STORE_UNSUPPORTED', 'node', `${process.version} is too old. Use Node 22.14 or newer`)
}

export function checkStore(store: unknown, found: Problems): void {
  const isStore = typeof store === 'object' && store !== null && 'claim' in store && 'open' in store
  if (isStore) {
    for (const warning of absentPartWarnings(store as Store<never>))
      found.add('warning', 'STORE_UNSUPPORTED', 'store', warning)
    return
  }
  throw new JobmillError('OPTION_INVALID', 'must be a store', {
    field: 'store',
    value: quote(store),
    fix: "Pass sqlite('jobs.db') from jobmill/sqlite or postgres(url) from jobmill/postgres",
  })
}

export function checkJobs(jobs: readonly unknown[], found: Problems): AnyJob[] {
  const seen = new Set<string>()
  return arrayOf(jobs, 'jobs', found).flatMap((job, at) => {
    const option = `jobs[${at}]`
    if (!isDefinition(job)) {
      const problem = isDeclaration(job)
        ? 'has no handler. Pass implement(declaration, run)'
        : 'must be a job. Create it with defineJob({ kind, run })'
      found.add('error', 'OPTION_INVALID', option, problem)
      return []
    }
    for (const kind of job.onDead === undefined ? [job.kind] : [job.kind, onDeadKind(job.kind)]) {
      if (seen.has(kind))
        found.add(
          'error',
          'KIND_REPEATED',
          option,
          `is already in use: "${kind}". Use a unique kind for each job`,
        )
      seen.add(kind)
    }
    return [job]
  })
}

function arrayOf(value: unknown, option: string, found: Problems): unknown[] {
  // Keeps holes, so that they are rejected by index.
  if (Array.isArray(value)) return Array.from(value as unknown[])
  found.add('error', 'OPTION_INVALID', option, `must be an array (got ${quote(value)}). Pass [ … ]`)
  return []
}

export function checkMiddleware(middleware: readonly unknown[], found: Problems): Middleware[] {
  return arrayOf(middleware, 'middleware', found).filter((one, at): one is Middleware => {
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
