/** The `jobmill db` commands. */
import type { Command } from '../program/command.ts'
import { dbCreate } from '../db/create.ts'
import { dbDoctor } from '../db/doctor.ts'
import { dbMigrate } from '../db/migrate.ts'
import { dbReset } from '../db/reset.ts'
import { dbStatus } from '../db/status.ts'

export const db: readonly Command[] = [dbCreate, dbMigrate, dbStatus, dbDoctor, dbReset]
