/** `jobmill-tables`: application tables in the same database as the jobs. */
export { type Database, type Fill, openTables, type TableOptions, type Tables } from './tables.ts'
export type { Step, StepTools } from './migrate.ts'
export { checkPlace } from './check-place.ts'
export { peek, type Peek } from './peek.ts'
export { placeOf, type Place } from './place.ts'
export {
  sql,
  type Expression,
  type ExpressionBuilder,
  type Insertable,
  type Kysely,
  type Selectable,
  type SqlBool,
  type Transaction,
} from 'kysely'
