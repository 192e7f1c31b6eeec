/** `jobmill db create`: creates the database if it does not exist. */
import { type Command, EXIT } from '../program/command.ts'
import { optionsFor } from '../with-mill.ts'
import { toolsOf } from './tools-of.ts'
import { waitingFor } from '../output/waiting.ts'

export const dbCreate: Command = {
  words: 'db create',
  says: 'create the database if it does not exist (db migrate or the first start creates the tables)',
  examples: ['jobmill db create', 'jobmill db create --db postgres://app@localhost/app'],
  async run(parsed, terminal) {
    const { store } = await optionsFor(parsed, { mayCreate: true, mayCreateNamed: true })
    const created = await waitingFor('the database', toolsOf(store).create(), terminal)
    if (parsed.has('json')) terminal.out(JSON.stringify({ store: store.name, created }))
    else terminal.out(`${store.name}: ${created ? 'created' : 'already exists'}`)
    return EXIT.done
  },
}
