/** The label and version of an instance, from options or from the environment. */
import { createHash } from 'node:crypto'
import { BOUNDS } from '../../job/defaults.ts'
import { storableText } from '../../job/text/error-text.ts'
import { checkKey } from '../../job/names.ts'
import type { Problems } from './problems.ts'

type Env = Readonly<Record<string, string | undefined>>

export interface InstanceOptions {
  /**
   * The label of this process, such as `mail-7`. If omitted: `prefix-worker-version-id` from the environment.
   */
  readonly label?: string
  /** The version of your application. If omitted: JOBMILL_WORKER_VERSION. */
  readonly version?: string
}

/** Null where neither options nor environment set a name. */
export function instanceNames(options: InstanceOptions | undefined, env: Env, found: Problems) {
  const { label, version = versionFrom(env) } = checked(options, found)
  return { labelOf: (instance: string) => label ?? labelFrom(env, instance, version), version }
}

function checked(options: InstanceOptions | undefined, found: Problems): InstanceOptions {
  if (options === undefined || !found.keys(options, 'instance', ['label', 'version'])) return {}
  const text = (name: 'label' | 'version'): InstanceOptions =>
    found.option(options[name], `instance.${name}`, {}, (value, field) => ({
      [name]: checkKey(value, field, BOUNDS.nameChars),
    }))
  return { ...text('label'), ...text('version') }
}

/** Null without a prefix. The version is left out if unset; a missing id becomes four hex digits. */
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

/** A blank variable counts as unset. */
function setting(env: Env, name: string): string | null {
  const value = env[name]?.trim() ?? ''
  return value === '' ? null : storableText(value, BOUNDS.nameChars)
}

function fourHexDigits(instance: string): string {
  return createHash('sha256').update(instance).digest('hex').slice(0, 4)
}
