/** `jobmill/postgres`: the store for PostgreSQL 14 and newer. */
export { toJobmillError as postgresError } from './store-postgres/connection/errors.ts'
export type { PostgresOptions } from './store-postgres/options.ts'
export { postgres } from './store-postgres/postgres-store.ts'
export { type Tx, txQuery as postgresTxQuery } from './store-postgres/tx.ts'
