// Prepares chaos: installs libfaketime, which moves the clocks of single processes. All other faults work
// without it, so a failure is not fatal. Runs on Node 20, after scripts/setup.mjs.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const machines = ['aarch64-linux-gnu', 'x86_64-linux-gnu']
const isThere = () => machines.some((machine) => existsSync(`/usr/lib/${machine}/faketime/libfaketime.so.1`))

if (!isThere()) {
  const fix = 'install faketime to include clock faults'
  if (process.getuid?.() !== 0) console.log(`chaos setup: libfaketime not found; ${fix}`)
  else {
    console.log('chaos setup: installing faketime (apt-get)')
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    const install = () => spawnSync('apt-get', ['install', '-y', 'faketime'], { env, stdio: 'ignore' })
    if (install().status !== 0) {
      // The package lists may be missing or outdated.
      spawnSync('apt-get', ['update'], { env, stdio: 'ignore' })
      install()
    }
    if (!isThere()) console.log(`chaos setup: installation failed; ${fix}`)
  }
}
