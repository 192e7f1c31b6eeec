// Finds the file of each system. Peers are loaded by name, only when a cell needs them: their packages are
// installed only in bench/, and no system should load the code of another.
import type { Setting, StoreName, System, SystemModule } from './system.ts'

const FILES: Readonly<Record<string, string>> = {
  'jobmill/postgres': 'systems/jobmill.ts',
  'jobmill/sqlite': 'systems/jobmill.ts',
  'bare/postgres': 'systems/bare-postgres.ts',
  'bare/sqlite': 'systems/bare-sqlite.ts',
  'graphile-worker/postgres': 'peers/graphile-worker.ts',
  'pg-boss/postgres': 'peers/pg-boss.ts',
  'bullmq-postgres/postgres': 'peers/bullmq.ts',
  'bullmq-redis/redis': 'peers/bullmq.ts',
  'bee-queue/redis': 'peers/bee-queue.ts',
  'plainjob/sqlite': 'peers/plainjob.ts',
  'liteque/sqlite': 'peers/liteque.ts',
  'dbos/postgres': 'peers/dbos.ts',
  'openworkflow/postgres': 'peers/openworkflow.ts',
  'openworkflow/sqlite': 'peers/openworkflow.ts',
  'restate/restate': 'peers/restate.ts',
}

export const SYSTEM_NAMES: readonly string[] = [
  ...new Set(Object.keys(FILES).map((key) => key.split('/')[0] ?? '')),
]

export async function loadSystem(name: string, store: StoreName, setting: Setting): Promise<System> {
  const file = FILES[`${name}/${store}`]
  if (file === undefined) throw new Error(`unknown system ${name} on ${store}`)
  const { systems } = (await import(new URL(file, import.meta.url).href)) as SystemModule
  const system = systems.find((one) => one.name === name && one.store === store && one.setting === setting)
  if (system === undefined) throw new Error(`${file} has no ${name} on ${store} with the setting ${setting}`)
  return system
}
