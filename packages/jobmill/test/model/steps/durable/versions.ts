// The versions of the code of the workers: each claim runs one of them, so workers change it all the time.
import { kindsOfVersion, storedKind } from '../../../../src/job/kind/kind-name.ts'
import type { LeaseName } from '../../lease-name.ts'
import type { World } from '../../world.ts'

const VERSIONS = [2, undefined, 1, 2] as const

const versionOf = (claim: number): number | undefined => VERSIONS[claim % VERSIONS.length]

/** What a claim with this number asks for. */
export function kindsOfClaim(kinds: readonly string[], claim: number): string[] {
  return kinds.flatMap((kind) => kindsOfVersion(kind, versionOf(claim)))
}

/** What a mill sends with each step of an attempt. */
export function versionedKindOf(
  { durable }: World,
  { id, claim }: LeaseName,
): { readonly versionedKind?: string } {
  const [kind, minVersion] = [durable.kinds.get(id), versionOf(claim)]
  return kind === undefined || minVersion === undefined
    ? {}
    : { versionedKind: storedKind({ kind, minVersion }) }
}
