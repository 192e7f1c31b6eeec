// PostgreSQL and PgBouncer refuse to run as root. In a container we often are root, so there they run as the
// user `nobody`, in a folder that belongs to it.
import { chownSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const nobody = 65534

/** To spread into the options of `spawn`: nothing unless we are root. */
export const unprivileged = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}

/** A new folder for a server under the system's temporary one, owned by whom the server will run as. */
export function serverFolder(name: string, under = tmpdir()): string {
  const folder = mkdtempSync(join(under, `jobmill-${name}-`))
  if (unprivileged.uid !== undefined) chownSync(folder, unprivileged.uid, unprivileged.gid)
  return folder
}
