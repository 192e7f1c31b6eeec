// Names of leases that all systems share. Each system has its own token for a lease.
import type { Finish } from '../../src/store/types/finish.ts'

/** A lease, named alike in every system: the id of its job, and the number of the claim. */
export interface LeaseName {
  readonly id: string
  readonly claim: number
}

/** A finish before the token of its claim in each system is known. */
export interface NamedFinish extends Omit<Finish, 'token'> {
  readonly claim: number
}
