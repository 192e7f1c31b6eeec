/**
 * A puller in a child process, which kills itself at a fault point once SIGUSR2 has armed it. Prints
 * `settled` when it has recovered the leftovers, and `armed` after the signal.
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
  // The retention of the files to clean ends as soon as the child is armed; that of the others does not.
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
