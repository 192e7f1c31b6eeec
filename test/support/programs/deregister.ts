// For tests in which a process ends without deregistering its instance.
import type { Store } from '../../../packages/jobmill/src/index.ts'

/** Deregisters all instances, so that the test leaves nothing behind. */
export async function deregister(store: Store): Promise<void> {
  await store.open()
  for (const { id } of await store.instances.list()) await store.instances.deregister(id)
  await store.close()
}
