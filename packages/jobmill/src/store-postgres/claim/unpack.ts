/** Gives jobs of a batch their own rows in `running`, for the statements that need them. See batches.ts. */
import { arrayOf } from '../connection/array-text.ts'
import type { Query } from '../connection/connection.ts'
import type { Context } from '../context.ts'
import type { Leased } from './batches.ts'

const UNPACK = `SELECT jobmill.unpack($1, $2, $3)`

interface Which {
  readonly tokens?: readonly number[]
  readonly instances?: readonly string[]
  readonly ids?: readonly string[]
}

/** Gives these jobs their own rows in `running`. */
export async function unpack(
  context: Context,
  query: Query,
  { tokens, instances, ids }: Which,
): Promise<void> {
  const columns = [tokens, instances, ids].map((list) => (list === undefined ? null : arrayOf(list)))
  await query(context.sql(UNPACK), columns)
}

/** Unpacks the leases that, as far as this handle knows, are in a batch. */
export async function unpackKnown(context: Context, query: Query, leases: Leased): Promise<void> {
  const tokens = context.batches.tokensOf(leases)
  if (tokens.length > 0) await unpack(context, query, { tokens, ids: leases.map(({ id }) => id) })
}

/**
 * For leases that a statement did not find. True if it should look again: another session may have unpacked
 * them since.
 */
export async function unpackMissing(context: Context, query: Query, leases: Leased): Promise<boolean> {
  if (leases.length === 0) return false
  const tokens = [...new Set(leases.map(({ token }) => token))]
  await unpack(context, query, { tokens, ids: leases.map(({ id }) => id) })
  return true
}
