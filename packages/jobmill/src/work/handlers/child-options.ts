/** Shared by handlers that start processes: the environment of a child, and how it is stopped. */
import { DEFAULTS } from '../../job/defaults.ts'
import type { JobPolicy } from '../../job/kind/declaration.ts'
import type { JobHandler } from '../../job/kind/job-handler.ts'
import { type Duration, durationMs } from '../../job/duration.ts'
import { type ErrorCode, invalidValue, JobmillError, pathOf, quote } from '../../job/errors.ts'
import { isInterruption } from '../../job/attempt/interruption.ts'
import { isOptions } from '../../job/options/known-keys.ts'

type Policy = JobPolicy & Pick<JobHandler<never, unknown, never, never>, 'retryIf'>

export interface ChildOptions extends Policy {
  /** How long an attempt may take (default 10 min). `'none'` for no limit. */
  readonly timeout?: Duration
  /** The environment of the child, in addition to PATH. */
  readonly env?: Readonly<Record<string, string>>
  /** Variables of this process to pass on. Default: none, so that no secret leaks. */
  readonly inheritEnv?: readonly string[]
  /** How long a child may take to end after SIGTERM before it is killed (default 5 s). */
  readonly killAfter?: Duration
}

const POLICY_KEYS = ['queue', 'priority', 'maxAttempts', 'backoff', 'retryIf'] as const
export const CHILD_KEYS: readonly string[] = ['env', 'inheritEnv', 'killAfter', 'timeout', ...POLICY_KEYS]

/** The retry and timeout options. */
export function policyOf({ timeout = DEFAULTS.childTimeoutMs, ...options }: ChildOptions): Policy {
  return {
    ...Object.fromEntries(POLICY_KEYS.map((key) => [key, options[key]])),
    ...(timeout === 'none' ? {} : { timeout }),
  }
}

export interface ChildPlan {
  readonly env: Readonly<Record<string, string>>
  readonly inheritEnv: readonly string[]
  readonly killAfterMs: number
}

/** Short, because the process is about to exit, and a child that is not killed by then would outlive it. */
const SHUTDOWN_KILL_MS = 250

export function childPlan(
  { env = {}, inheritEnv = [], killAfter = DEFAULTS.childKillMs }: ChildOptions,
  at: string,
): ChildPlan {
  return {
    env: checkEnv(env, `${at}.env`, 'OPTION_INVALID'),
    inheritEnv: checkTexts(inheritEnv, `${at}.inheritEnv`, 'OPTION_INVALID'),
    killAfterMs: durationMs(killAfter, `${at}.killAfter`),
  }
}

/**
 * Builds the environment of a child. Called for each one, so that it has the current values of this process.
 */
export function environment({ env, inheritEnv }: Omit<ChildPlan, 'killAfterMs'>): Record<string, string> {
  const inherited = ['PATH', ...inheritEnv].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(inherited), ...env }
}

/** How long a child may take to end, by the reason of the interruption. */
export function graceMs(reason: unknown, killAfterMs: number): number {
  const isShutdown = isInterruption(reason) && reason.why === 'shutdown'
  return isShutdown ? Math.min(killAfterMs, SHUTDOWN_KILL_MS) : killAfterMs
}

export function checkEnv(value: unknown, field: string, code: ErrorCode): Readonly<Record<string, string>> {
  if (!isOptions(value)) {
    const fix = 'Pass an object of strings such as { LANG: "C" }'
    throw invalidValue(field, value, 'must be an object', fix, code)
  }
  for (const [name, text] of Object.entries(value)) {
    if (name === '' || name.includes('=') || name.includes('\u0000')) {
      throw new JobmillError(code, 'is not a valid variable name', {
        field: pathOf(field, name),
        fix: 'Use a name without = or NUL',
      })
    }
    // Leaves out the value, which may be a password.
    checkText(text, pathOf(field, name), code, typeof text)
  }
  return value as Readonly<Record<string, string>>
}

export function checkTexts(value: unknown, field: string, code: ErrorCode): readonly string[] {
  if (!Array.isArray(value)) {
    const fix = 'Pass an array of strings such as ["a", "b"]'
    throw invalidValue(field, value, 'must be an array', fix, code)
  }
  return value.map((text, at) => checkText(text, `${field}[${at}]`, code))
}

/** Requires a string without NUL: neither an argument nor an environment variable can contain it. */
export function checkText(value: unknown, field: string, code: ErrorCode, got = quote(value)): string {
  if (typeof value !== 'string') {
    throw new JobmillError(code, 'must be a string', { field, value: got, fix: 'Pass a string' })
  }
  if (!value.includes('\u0000')) return value
  throw new JobmillError(code, 'contains a NUL character, which cannot be passed to a program', {
    field,
    value: got,
    fix: 'Remove it, or pass it through stdin',
  })
}
