/**
 * Database tools for operators, outside of the store contract. A mill runs without them, so a store may omit
 * them.
 */
import type { Transfer } from './transfer.ts'
import type { DatabaseAdmin } from './admin.ts'
import type { Resources } from './resources.ts'

export interface StoreTools extends DatabaseAdmin, Transfer, Resources {}
