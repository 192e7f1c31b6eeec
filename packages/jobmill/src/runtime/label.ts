/** The name and version of an instance as operators see them: from code, else from the environment. */
import { createHash } from 'node:crypto'
import { BOUNDS } from '../job/defaults.ts'
import { checkKey } from '../job/names.ts'
import type { Problems } from './problems.ts'

type Env = Readonly<Record<string, string | undefined>>

export interface InstanceOptions {
  /** The whole label of this process, such as `mail-7`. Omitted: `prefix-worker-version-id` from the environment. */
  readonly label?: string
  /** The version of your application. Omitted: JOBMILL_WORKER_VERSION. */
  readonly version?: string
}

/** What counts for this process: null where neither code nor environment says. */
export interface InstanceNames {
  readonly labelOf: (instance: string) => string | null
  readonly version: string | null
}

export function instanceNames(
  options: InstanceOptions | undefined,
  env: Env,
  found: Problems,
): InstanceNames {
  const { label, version = versionFrom(env) } = checked(options, found)
  return { labelOf: (instance) => label ?? labelFrom(env, instance, version), version }
}

function checked(options: InstanceOptions | undefined, found: Problems): InstanceOptions {
  if (options === undefined || !found.keys(options, 'instance', ['label', 'version'])) return {}
  const text = (name: 'label' | 'version'): InstanceOptions => {
    const value = options[name]
    if (value === undefined) return {}
    return found.try(`instance.${name}`, {}, () => ({
      [name]: checkKey(value, `instance.${name}`, BOUNDS.nameChars),
    }))
  }
  return { ...text('label'), ...text('version') }
}

/** Null without a prefix. The version is left out when there is none; the id is four hex digits when none is given. */
export function labelFrom(
  env: Env,
  instance: string,
  version: string | null = versionFrom(env),
): string | null {
  const prefix = setting(env, 'JOBMILL_WORKER_PREFIX')
  if (prefix === null) return null
  const id = setting(env, 'JOBMILL_WORKER_ID') ?? fourHexDigits(instance)
  return [prefix, 'worker', version, id].filter((part) => part !== null).join('-')
}

function versionFrom(env: Env): string | null {
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
