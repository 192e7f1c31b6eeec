/** The versions of the application on which the errors of a group happened. */
import type { VersionRecord } from '../../../store/types/instance.ts'

export interface ErrorVersions {
  /**
   * How many of the scanned failures ran on each version, latest version first. Null: the version is unknown.
   * If the error is new in a version, the list ends with the version before it, with 0 jobs.
   */
  readonly versions: readonly { readonly version: string | null; readonly jobs: number }[]
  /** The version in which this error is new: no scanned failure ran on an earlier one. Null if unknown. */
  readonly newIn: string | null
}

/** `known` are the versions of the mill, latest first. */
export function versionsOfErrors(
  failures: ReadonlyMap<string | null, number>,
  known: readonly VersionRecord[],
): ErrorVersions {
  const order = known.map(({ version }) => version)
  const placeOf = (version: string | null): number => {
    const place = version === null ? -1 : order.indexOf(version)
    return place === -1 ? order.length : place
  }
  const versions = [...failures]
    .map(([version, jobs]) => ({ version, jobs }))
    .toSorted((a, b) => placeOf(a.version) - placeOf(b.version))
  const first = Math.max(...versions.map(({ version }) => placeOf(version)))
  const [newIn, before] = [order[first], order[first + 1]]
  if (newIn === undefined || before === undefined) return { versions, newIn: null }
  return { versions: [...versions, { version: before, jobs: 0 }], newIn }
}
