/** Task 9: is the database healthy? */
import { rival, type Task } from './task.ts'

export const database: Task = {
  id: '9',
  name: 'health of the database',
  rival: rival('Sidekiq (Redis only)'),
  async perform({ scene, op: { page } }) {
    const system = await scene.mill.system()
    const line = page.getByRole('region', { name: 'Database' })
    await line.getByText(/^ok$|^\d+ problems?$/).waitFor()
    const text = await line.innerText()
    const server = system.database?.server ?? system.store
    if (!text.includes(server)) throw new Error(`the line does not name ${server}: ${text}`)
    if (!/\d [KMG]iB/.test(text)) throw new Error(`the line has no size: ${text}`)
    const pinned = system.database?.pinned.length ?? 0
    if (pinned > 0 && text.includes('ok')) throw new Error(`the line hides ${pinned} sessions: ${text}`)
  },
}
