/**
 * An inbox in a child process, to be killed. Prints `ready`, and the first one also its new mailbox as JSON.
 */
import { jobmill } from 'jobmill'
import { servePublic } from 'jobmill-server'
import { openTables } from 'jobmill-tables'
import { directoryBlobs, postgresBlobs, type Schema, STEPS, uploads } from 'jobmill-uploads'

const { ADDRESS = '', BLOBS = '', PORT = '', MAKE = '' } = process.env
const { store, tables } = await openTables<Schema>(ADDRESS, { app: 'uploads', steps: STEPS })
const blobs = ADDRESS.startsWith('postgres') ? postgresBlobs(tables) : directoryBlobs(BLOBS)
const inbox = uploads({ tables, blobs })
const mill = jobmill({ store, serve: ['uploads'], log: 'silent' })
await inbox.start(mill)
await servePublic(mill, { port: Number(PORT), routes: inbox.fetch })
if (MAKE === '') console.log('ready')
else {
  const { id } = await inbox.mailboxes.add({ name: 'letters' })
  const { token } = await inbox.tokens.add(id)
  console.log(JSON.stringify({ id, token }))
}
