/** The name of an instance for people: `prefix-worker-version-id`, from the environment. */
import { createHash } from 'node:crypto'

type Env = Readonly<Record<string, string | undefined>>

/** Null without a prefix. The version is left out when there is none; the id is four hex digits when none is given. */
export function labelFrom(env: Env, instance: string): string | null {
  const prefix = setting(env, 'JOBMILL_WORKER_PREFIX')
  if (prefix === null) return null
  const id = setting(env, 'JOBMILL_WORKER_ID') ?? fourHexDigits(instance)
  return [prefix, 'worker', versionFrom(env), id].filter((part) => part !== null).join('-')
}

export function versionFrom(env: Env): string | null {
  return setting(env, 'JOBMILL_WORKER_VERSION')
}

/** A blank variable is unset. */
function setting(env: Env, name: string): string | null {
  const value = env[name]?.trim() ?? ''
  return value === '' ? null : value
}

function fourHexDigits(instance: string): string {
  return createHash('sha256').update(instance).digest('hex').slice(0, 4)
}
