/**
 * The names under which stores keep kinds. A job whose first step was recorded by version 3 of its definition
 * is kept as `customer.onboard@3`, so that only processes with version 3 or later claim it. No name of a kind
 * contains this character.
 */
const BEFORE_VERSION = '@'

export interface KindName {
  readonly kind: string
  /** The lowest version of the definition that may run its jobs. Null for any. */
  readonly minVersion: number | null
}

export function storedKind({ kind, minVersion }: KindName): string {
  return minVersion === null ? kind : `${kind}${BEFORE_VERSION}${minVersion}`
}

export function parseKind(stored: string): KindName {
  const at = stored.indexOf(BEFORE_VERSION)
  return at < 0
    ? { kind: stored, minVersion: null }
    : { kind: stored.slice(0, at), minVersion: Number(stored.slice(at + 1)) }
}

/** The names of the jobs that this version of a definition may run. */
export function kindsOfVersion(kind: string, version: number | undefined): string[] {
  const versions = Array.from({ length: version ?? 0 }, (_, at) => at + 1)
  return [kind, ...versions.map((minVersion) => storedKind({ kind, minVersion }))]
}

/** The kinds behind stored names, each once. */
export function kindsOf(stored: readonly string[]): string[] {
  return [...new Set(stored.map((name) => parseKind(name).kind))]
}

/** For messages, behind the kind: ` in version 3 or later`. Empty for jobs that any version may run. */
export function versionText({ minVersion }: Pick<KindName, 'minVersion'>): string {
  return minVersion === null ? '' : ` in version ${minVersion} or later`
}
