/**
 * Known weaknesses of the packages that the bundle holds, as the registry tells them: `npm audit` over a lock file with these
 * packages alone, because a tool of development is in nobody's process.
 *
 * node .ci/advisories.ts [folder]   reads <folder>/sbom.cdx.json (dist unless given). Exit code 1: there are some, or nobody could be
 *   asked and this is CI. Elsewhere it says `skipped` and why.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { LockEntry, Sbom } from './sbom.ts'

interface Audit {
  readonly error?: { readonly code?: string; readonly summary?: string; readonly detail?: string }
  readonly message?: string
  readonly vulnerabilities?: Readonly<
    Record<string, { readonly severity: string; readonly range: string }>
  >
}

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = process.argv[2] ?? join(root, 'dist')
const { components } = JSON.parse(readFileSync(join(folder, 'sbom.cdx.json'), 'utf8')) as Sbom
const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, LockEntry>
}
const bundled = new Set(components.map(({ name, version }) => `${name}@${version}`))
const retained = Object.entries(packages)
  .map(([path, entry]) => ({
    path,
    entry,
    name: entry.name ?? path.replace(/^.*node_modules\//, ''),
  }))
  .filter(
    ({ path, entry, name }) =>
      path.includes('node_modules/') && bundled.has(`${name}@${entry.version}`),
  )
const scratch = mkdtempSync(join(tmpdir(), 'backporch-advisories-'))
try {
  const top = retained.filter(({ path }) => path.lastIndexOf('node_modules/') === 0)
  const manifest = {
    name: 'bundled',
    version: '0.0.0',
    dependencies: Object.fromEntries(top.map(({ name, entry }) => [name, entry.version])),
  }
  // They are devDependencies here, and what runs there.
  const entries = retained.map(({ path, entry }) => [
    path,
    { ...entry, dev: undefined, devOptional: undefined },
  ])
  writeFileSync(join(scratch, 'package.json'), JSON.stringify(manifest))
  const lock = {
    name: manifest.name,
    version: manifest.version,
    lockfileVersion: 3,
    packages: { '': manifest, ...Object.fromEntries(entries) },
  }
  writeFileSync(join(scratch, 'package-lock.json'), JSON.stringify(lock))
  const { stdout, stderr } = spawnSync('npm', ['audit', '--json', '--package-lock-only'], {
    cwd: scratch,
    encoding: 'utf8',
  })
  process.exitCode = report(answerOf(stdout), stderr)
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

function answerOf(text: string): Audit {
  try {
    return JSON.parse(text) as Audit
  } catch {
    return { message: `npm audit printed ${JSON.stringify(text.slice(0, 200))}` }
  }
}

function report({ vulnerabilities, error, message }: Audit, stderr: string): number {
  if (vulnerabilities === undefined) {
    const inCi = (process.env['CI'] ?? '') !== '' && process.env['CI'] !== 'false'
    console.log(
      `advisories: skipped (${message ?? error?.summary ?? stderr.trim()})${inCi ? ', which is a failure in CI' : ''}`,
    )
    return inCi ? 1 : 0
  }
  const found = Object.entries(vulnerabilities)
  for (const [name, { severity, range }] of found) console.log(`${severity}: ${name} ${range}`)
  console.log(`advisories: ${found.length} of ${retained.length} packages of the bundle have one`)
  return found.length === 0 ? 0 : 1
}
