/**
 * `jobmill/orm`: turns a transaction of an ORM or a query builder into the `tx` that `enqueue`, `complete`
 * and `step.transaction` take. It imports no ORM.
 */
export { fromDrizzle, fromKnex, fromKysely, fromPostgresJs, fromTypeorm } from './orm/adapters.ts'
