// The stores under test and the oracle, with the same requests. Values that each makes up (tokens) get common
// names here, so that replies can be compared.
import assert from 'node:assert/strict'
import type { FullStore } from '../../src/store/store.ts'
import type { ConformanceSubject } from '../../../conformance/src/suite/subject.ts'
import { oracle, oracleDatabase } from '../../../conformance/src/oracle/oracle.ts'

/** One store, and its values for the common names. */
export interface System {
  readonly name: string
  readonly store: FullStore
  /**
   * The token of each job by the number of the claim in the whole run. A store may claim in several
   * statements.
   */
  readonly tokens: Map<number, Map<string, number>>
  /** The last settings version that it reported, and whether the next must differ. */
  settings: { version: number | null; changed: boolean }
  /** The last version of the members that it reported. */
  members: number | null
}

/** The oracle first, then a fresh database for every subject. */
export async function openSystems(
  subjects: readonly ConformanceSubject<FullStore>[],
  clock: () => number,
): Promise<System[]> {
  const database = oracleDatabase()
  const stores = [{ name: 'oracle', store: oracle(database, { clock }) as FullStore }]
  for (const subject of subjects) {
    await subject.fresh()
    stores.push({ name: subject.name, store: subject.handle({ clock }) })
  }
  await Promise.all(stores.map(({ store }) => store.open()))
  return stores.map((each) => ({
    ...each,
    tokens: new Map(),
    settings: { version: null, changed: false },
    members: null,
  }))
}

export function tokenOf(
  system: System,
  { id, claim }: { readonly id: string; readonly claim: number },
): number {
  const token = system.tokens.get(claim)?.get(id)
  assert.ok(token !== undefined, `${system.name} made no claim ${claim} of ${id}`)
  return token
}

export function claimOf(system: System, token: number): number {
  for (const [claim, tokens] of system.tokens) if ([...tokens.values()].includes(token)) return claim
  throw new Error(`${system.name} reported a token that it never issued: ${token}`)
}

/** Records the token of a job; it must be higher than those of all earlier claims. */
export function noteToken(
  system: System,
  { id, claim }: { readonly id: string; readonly claim: number },
  token: number,
): void {
  for (const [earlier, tokens] of system.tokens)
    for (const known of tokens.values())
      assert.ok(earlier === claim || known < token, `${system.name}: the token ${token} does not rise`)
  system.tokens.set(claim, (system.tokens.get(claim) ?? new Map<string, number>()).set(id, token))
}
