/** What the bundle holds, as CycloneDX 1.6: the packages that esbuild took something from, with the hashes of the lock file. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface LockEntry {
  readonly name?: string
  readonly version: string
  readonly integrity?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly license?: string
}

export interface Component {
  readonly type: 'application' | 'library'
  readonly 'bom-ref': string
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly licenses?: readonly (
    | { readonly license: { readonly id: string } }
    | { readonly expression: string }
  )[]
  readonly hashes?: readonly { readonly alg: 'SHA-512'; readonly content: string }[]
}

export interface Sbom {
  readonly bomFormat: 'CycloneDX'
  readonly specVersion: '1.6'
  readonly serialNumber: string
  readonly version: 1
  readonly metadata: { readonly component: Component }
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

/**
 * Equal input gives equal bytes: there is no time in it, and its number is made from its content.
 *
 * @param paths of the packages from the root, as the lock file has them: `node_modules/a/node_modules/b`
 * @throws where the lock file has no such package, or another version than the one that is installed
 */
export function sbomOf(root: string, paths: readonly string[]): Sbom {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockEntry>
  }
  const parts = new Map(paths.map((path) => [path, libraryAt(root, path, packages[path])]))
  const application = componentOf(manifestAt(root), 'application')
  const dependencies = [
    {
      ref: application['bom-ref'],
      dependsOn: sorted([...parts.values()].map((part) => part['bom-ref'])),
    },
    ...[...parts].map(([path, part]) => ({
      ref: part['bom-ref'],
      dependsOn: dependenciesOf(path, packages[path], parts),
    })),
  ]
  const content = {
    metadata: { component: application },
    components: [...parts.values()].sort((left, right) => (left.purl < right.purl ? -1 : 1)),
    dependencies: dependencies.sort((left, right) => (left.ref < right.ref ? -1 : 1)),
  }
  const serialNumber = `urn:uuid:${uuidOf(JSON.stringify(content))}`
  return { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber, version: 1, ...content }
}

export function manifestAt(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

function libraryAt(root: string, path: string, entry: LockEntry | undefined): Component {
  const manifest = manifestAt(join(root, path))
  if (entry?.integrity?.startsWith('sha512-') !== true)
    throw new Error(`package-lock.json has no SHA-512 of ${path}`)
  if (entry.version !== manifest.version)
    throw new Error(`${path} is ${manifest.version}, and package-lock.json has ${entry.version}`)
  const content = Buffer.from(entry.integrity.slice('sha512-'.length), 'base64').toString('hex')
  return { ...componentOf(manifest, 'library'), hashes: [{ alg: 'SHA-512', content }] }
}

function componentOf({ name, version, license }: Manifest, type: Component['type']): Component {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  const licenses =
    license === undefined
      ? []
      : [/[ (]/.test(license) ? { expression: license } : { license: { id: license } }]
  return {
    type,
    'bom-ref': purl,
    name,
    version,
    purl,
    ...(licenses.length === 0 ? {} : { licenses }),
  }
}

/** Those that are in the bundle, found as Node finds them: in the package's own folder, then in those above. */
function dependenciesOf(
  path: string,
  entry: LockEntry | undefined,
  parts: ReadonlyMap<string, Component>,
): readonly string[] {
  const names = Object.keys({
    ...entry?.dependencies,
    ...entry?.optionalDependencies,
    ...entry?.peerDependencies,
  })
  return sorted(
    names.flatMap((name) => {
      for (
        let folder = path;
        ;
        folder = folder.replace(/\/?node_modules\/(?:@[^/]+\/)?[^/]+$/, '')
      ) {
        const found = parts.get(`${folder === '' ? '' : `${folder}/`}node_modules/${name}`)
        if (found !== undefined) return [found['bom-ref']]
        if (folder === '') return []
      }
    }),
  )
}

function sorted(refs: readonly string[]): readonly string[] {
  return [...new Set(refs)].sort()
}

/** Version 8 of RFC 9562: a hash. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
