/**
 * The files of a package as the objects that should run. The pipeline is not run: a package is taken as it stands in git,
 * which is how kpt packages are kept (rendered in place). Which files count, and in what order, is kpt's own answer
 * (render-package.kpt.test.ts holds it against `kpt fn source`).
 */
import { Failure } from '../failure.ts'
import { type GoYamlDocument, type GoYamlFile, objectsIn, parseGoYaml } from '../krm/go-yaml.ts'
import { decodeYaml } from '../krm/go-yaml-text.ts'
import { getKey, isJsonObject, type Json, type JsonObject } from '../krm/json.ts'
import { readResource } from '../krm/resource.ts'
import { describeResourceId, parseApiVersion, resourceKey } from '../krm/resource-id.ts'
import { type Kptfile, readKptfile } from '../package/kptfile.ts'
import type { PackageFile, PackageFiles } from '../package/package-files.ts'
import { PACKAGE_FILE, walkPackage } from '../package/walk-package.ts'
import type { DesiredResource, DesiredSet, SourceLocation } from './desired-set.ts'
import { checkFunctionConfigs } from './function-config.ts'
import { isKustomization, isLocalConfig, isOfKpt } from './not-applied.ts'
import { type FoundInventory, inventoryOf, readInventory } from './package-inventory.ts'
import { plainSecretNote } from './plain-secret.ts'
import { whyServerNamed } from './server-named.ts'

export interface RenderedPackage {
  readonly desired: DesiredSet
  /** Of the package itself, not of its subpackages. */
  readonly kptfile: Kptfile
  /**
   * Files, from the root of the repository, that may hold objects and could not be looked into: links, submodules and LFS
   * pointers. While there is one, an object that is not desired cannot be called unexpected.
   */
  readonly unread: readonly string[]
}

export type Rendering = RenderedPackage | { readonly failures: readonly [Failure, ...Failure[]] }

const MANIFEST = /\.(?:yaml|yml|json)$/
const LFS_POINTER = 'version https://git-lfs.github.com/spec/'

/**
 * Reads a package. Every failure of the package is returned at once, in the order of its files, function configs last: BP1004 (no Kptfile), BP110x (a Kptfile, its own
 * or a subpackage's), BP1110 and BP1111 (YAML), BP1112 (no Kubernetes object), BP1113 (one object twice). Never throws for bad input.
 * @param packagePath from the root of the repository; '' for the root
 * @param files everything below the package's folder, or at least its manifests, Kptfiles and `.krmignore` files
 */
export function renderPackage(packagePath: string, files: PackageFiles): Rendering {
  const reading = new PackageReading(packagePath, files)
  reading.readAll()
  return reading.result()
}

class PackageReading {
  private readonly packagePath: string
  private readonly files: ReadonlyMap<string, PackageFile>
  private readonly failures: Failure[] = []
  private readonly notes: string[] = []
  private readonly unread: string[] = []
  private readonly resources = new Map<string, DesiredResource>()
  private readonly inventories: FoundInventory[] = []
  /** By folder within the package; '' is the package itself. */
  private readonly kptfiles = new Map<string, Kptfile>()

  constructor(packagePath: string, files: PackageFiles) {
    this.packagePath = packagePath
    // In a package that is the whole repository our own records are no part of it, ignored by kpt or not.
    const own = files.filter(({ path }) => packagePath !== '' || !path.startsWith('.drift/'))
    this.files = new Map(own.map((file) => [file.path, file]))
  }

  readAll(): void {
    if (!this.readKptfile(PACKAGE_FILE)) this.failures.push(noKptfile(this.where(PACKAGE_FILE)))
    for (const path of walkPackage(this.files.keys(), (ignore) => this.ignoreText(ignore))) {
      if (path.endsWith(`/${PACKAGE_FILE}`)) this.readKptfile(path)
      else if (MANIFEST.test(path) || this.files.get(path)?.mode === '160000') this.readManifest(path)
    }
    for (const [folder, kptfile] of this.kptfiles) {
      this.failures.push(...checkFunctionConfigs(kptfile, folder, this.files, (path) => this.where(path)))
    }
  }

  result(): Rendering {
    const [first, ...others] = this.failures
    if (first !== undefined) return { failures: [first, ...others] }
    const kptfile = this.kptfiles.get('') as Kptfile
    const hasPipeline = [...this.kptfiles.values()].some(({ pipeline }) => pipeline.mutators.length + pipeline.validators.length > 0)
    const subpackages = [...this.kptfiles.keys()].filter((folder) => folder !== '')
    const { inventory, notes } = inventoryOf(this.inventories, kptfile.inventory, subpackages)
    return {
      desired: {
        resources: [...this.resources.values()],
        inventory,
        pipeline: hasPipeline ? 'not-run' : 'none',
        notes: [...this.notes, ...notes],
      },
      kptfile,
      unread: this.unread,
    }
  }

  private where(path: string): string {
    return this.packagePath === '' ? path : `${this.packagePath}/${path}`
  }

  private ignoreText(path: string): string {
    const file = this.files.get(path)
    return file === undefined || file.mode === '120000' ? '' : new TextDecoder().decode(file.content)
  }

  private readKptfile(path: string): boolean {
    const file = this.files.get(path)
    if (file === undefined || file.mode === '120000' || file.mode === '160000') return false
    const text = this.textOf(file)
    if (text === undefined) return true
    const read = readKptfile(text, this.where(path))
    if ('failures' in read) this.failures.push(...read.failures)
    else this.kptfiles.set(path.slice(0, -PACKAGE_FILE.length - 1), read.kptfile)
    return true
  }

  private readManifest(path: string): void {
    const file = this.files.get(path)
    const skipped = file === undefined ? undefined : whyUnread(file)
    if (skipped !== undefined) {
      this.unread.push(this.where(path))
      this.notes.push(`${this.where(path)}: ${skipped}`)
      return
    }
    const text = file === undefined ? undefined : this.textOf(file)
    const yaml = text === undefined ? undefined : this.attempt(() => parseGoYaml(text, this.where(path)))
    if (text === undefined || yaml === undefined) return
    this.addNotes(yaml, path)
    for (const document of yaml.documents) this.readDocument(document, text, path)
  }

  private addNotes(yaml: GoYamlFile, path: string): void {
    for (const { line, column, message } of yaml.notes) this.notes.push(`${this.where(path)}:${line}:${column}: ${message}`)
  }

  private readDocument(document: GoYamlDocument, text: string, path: string): void {
    const { value } = document
    if (isKustomization(value, path) || isEmptyList(value)) return
    const listIsLocal = isLocalConfig(value)
    for (const { object, item, line } of this.attempt(() => objectsIn(document, text, this.where(path))) ?? []) {
      const secret = plainSecretNote(object)
      if (secret !== undefined) this.notes.push(`${this.where(path)}:${line}: ${secret}`)
      if (listIsLocal || isLocalConfig(object) || isOfKpt(object, 'Kptfile')) continue
      const location = { path: this.where(path), document: document.index, item, line }
      if (isOfKpt(object, 'ResourceGroup')) this.inventories.push(readInventory(object, location, path))
      else this.addResource(object, location)
    }
  }

  private addResource(object: Json, location: SourceLocation): void {
    const generated = whyServerNamed(object)
    if (generated !== undefined) {
      this.notes.push(`${location.path}:${location.line}: ${generated}`)
      return
    }
    const resource = readResource(object)
    const problem = 'problem' in resource ? resource.problem : namespaceProblem(resource.object)
    if ('problem' in resource || problem !== undefined) {
      this.failures.push(noObject(location, problem ?? ''))
      return
    }
    const key = resourceKey(resource.id)
    const earlier = this.resources.get(key)
    if (earlier !== undefined) this.failures.push(declaredTwice(earlier, location))
    else this.resources.set(key, { ...resource, location })
  }

  private textOf(file: PackageFile): string | undefined {
    return this.attempt(() => decodeYaml(file.content, this.where(file.path)))
  }

  private attempt<T>(read: () => T): T | undefined {
    try {
      return read()
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
      this.failures.push(thrown)
      return undefined
    }
  }
}

function whyUnread(file: PackageFile): string | undefined {
  if (file.mode === '120000') return 'a symbolic link is not followed'
  if (file.mode === '160000') return 'a submodule is not looked into'
  const start = new TextDecoder().decode(file.content.subarray(0, LFS_POINTER.length))
  return start === LFS_POINTER ? 'the file is in Git LFS, and only its pointer is in the commit' : undefined
}

/** A `kind: List` without items declares nothing. */
function isEmptyList(value: Json): boolean {
  return (
    isJsonObject(value) &&
    getKey(value, 'kind') === 'List' &&
    getKey(value, 'apiVersion') === 'v1' &&
    (getKey(value, 'items') ?? null) === null
  )
}

function namespaceProblem(object: JsonObject): string | undefined {
  const metadata = getKey(object, 'metadata')
  const namespace = (isJsonObject(metadata) ? getKey(metadata, 'namespace') : undefined) ?? null
  if (namespace !== null && typeof namespace !== 'string') return 'metadata.namespace is not a text'
  return parseApiVersion(String(getKey(object, 'apiVersion'))).version.includes('/') ? 'apiVersion has more than one "/"' : undefined
}

/** `apps/web/list.yaml:12 (document 2, item 1)`, documents and items counted from 1. */
function describeLocation({ path, line, document, item }: SourceLocation): string {
  return `${path}:${line} (document ${document + 1}${item === undefined ? '' : `, item ${item + 1}`})`
}

function noKptfile(where: string): Failure {
  return new Failure({
    code: 'BP1004',
    what: 'there is no package',
    where,
    why: 'the folder has no regular file named Kptfile',
    remedy: 'run "kpt pkg init" in the folder and commit the Kptfile',
    retry: 'on-change',
  })
}

function noObject(location: SourceLocation, why: string): Failure {
  return new Failure({
    code: 'BP1112',
    what: 'a document is not a Kubernetes object',
    where: describeLocation(location),
    why,
    remedy: 'complete it, or name the file in .krmignore',
    retry: 'on-change',
  })
}

function declaredTwice(earlier: DesiredResource, location: SourceLocation): Failure {
  return new Failure({
    code: 'BP1113',
    what: 'two places declare one object',
    where: describeLocation(location),
    why: `${describeResourceId(earlier.id)} is also declared at ${describeLocation(earlier.location)}`,
    remedy: 'keep one of the two',
    retry: 'on-change',
  })
}
