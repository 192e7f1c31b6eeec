/** What the tools of an operator ask of a database beside the contract. A mill does not need it, so a store may go without. */
import type { Carrying } from './carried.ts'
import type { Keeping } from './keeping.ts'
import type { Resources } from './resources.ts'

export interface StoreTools extends Keeping, Carrying, Resources {}
