/**
 * A puller in a process of its own, which ends itself at the point that it is told, once it was told by SIGUSR2 that this is the time. Says `settled` when what it
 * found is mended, and `armed` when it was told.
 */
import { pull } from 'jobmill-uploads/client'

const {
  URL: url = '',
  MAILBOX: mailbox = '',
  TOKEN: token = '',
  FOLDER: folder = '',
  FAULT = '',
} = process.env
let isArmed = false
const puller = pull({
  url,
  mailbox,
  token,
  folder,
  backoff: { first: 10, most: 50 },
  // The time of what is cleaned up is over as soon as it is told; that of the others is not.
  keepFor: 1_000,
  clock: () => (isArmed && FAULT.startsWith('clean') ? Date.now() : 0),
  onTrouble: ({ message }) => void process.stderr.write(`${message}\n`),
  fault(point) {
    if (isArmed && point === FAULT) process.kill(process.pid, 'SIGKILL')
  },
})
process.on('SIGUSR2', () => {
  isArmed = true
  console.log('armed')
})
process.once('SIGTERM', () => void puller.stop().then(() => process.exit(0)))
await puller.start()
const { isComplete } = await puller.settled()
console.log(isComplete ? 'settled' : 'not complete')
