/** What the tools of an operator ask of a database beside the contract. A mill does not need it, so a store may go without. */
import type { Transfer } from './transfer.ts'
import type { DatabaseAdmin } from './admin.ts'
import type { Resources } from './resources.ts'

export interface StoreTools extends DatabaseAdmin, Transfer, Resources {}
