/**
 * Takes the download addresses out of package-lock.json: the lock pins versions and hashes, and every machine asks its
 * own registry. npm's own switch for this (`omit-lockfile-registry-resolved`) drops the optional platform packages from
 * the lock file when it writes one from scratch (seen with npm 11.19), so the addresses are removed afterwards.
 */
import { readFileSync, writeFileSync } from 'node:fs'

const path = new URL('../package-lock.json', import.meta.url)
const lock = JSON.parse(readFileSync(path, 'utf8')) as {
  packages: Record<string, { resolved?: string; link?: boolean }>
}
for (const entry of Object.values(lock.packages)) if (!entry.link) delete entry.resolved
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`)
