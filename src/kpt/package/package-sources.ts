import { Failure } from '@backporch/kyaml/failure'
import type { PackageFile, PackageFiles } from '@backporch/kyaml/files'
import { decodeYaml } from '@backporch/kyaml/read-yaml'
import { goClean } from './clean-path.ts'
import { checkFunctionConfigs } from './function-config.ts'
import { readKnownKptfile } from './known-kptfiles.ts'
import type { Kptfile } from './kptfile-value.ts'
import { KUSTOMIZATION_NAMES } from './kustomization-names.ts'
import { IGNORE_FILE, PACKAGE_FILE, walkPackage } from './walk-package.ts'

const MANIFEST = /\.(?:yaml|yml|json)$/
const MAX_FOLDERS = 64
const LFS_POINTER = 'version https://git-lfs.github.com/spec/'

export class PackageSources {
  readonly packagePath: string
  readonly files: ReadonlyMap<string, PackageFile>
  /** '' is the package itself. */
  readonly kptfiles = new Map<string, Kptfile>()
  private readonly own = new Map<string, ReadonlySet<string>>()
  private appliedByKpt: boolean | undefined
  private readonly kptfileFailures = new Map<string, readonly Failure[]>()

  constructor(packagePath: string, files: PackageFiles) {
    this.packagePath = packagePath
    // Drift records are never part of the package.
    const own = files.filter(({ path }) => packagePath !== '' || !path.startsWith('.drift/'))
    this.files = new Map(omitSubpackages(own).map((file) => [file.path, file]))
    for (const path of this.files.keys()) if (isKptfile(path)) this.readKptfile(path)
  }

  get hasPipeline(): boolean {
    return [...this.kptfiles.values()].some(
      ({ pipeline }) => pipeline.mutators.length + pipeline.validators.length > 0,
    )
  }

  get isAppliedByKpt(): boolean {
    this.appliedByKpt ??=
      this.kptfiles.get('')?.inventory !== undefined ||
      [...this.files.keys()].some((path) => this.isInventory(path))
    return this.appliedByKpt
  }

  private isInventory(path: string): boolean {
    return (
      MANIFEST.test(path) &&
      this.explainUnread(path) === undefined &&
      /^kind:\s*["']?ResourceGroup\b/m.test(this.readText(path))
    )
  }

  resolveLocation(path: string): string {
    return this.packagePath === '' ? path : `${this.packagePath}/${path}`
  }

  listFailuresOf(path: string): readonly Failure[] {
    return this.kptfileFailures.get(path) ?? []
  }

  get isFolder(): boolean {
    return !this.kptfiles.has('') && !this.kptfileFailures.has(PACKAGE_FILE)
  }

  /** BP1004 if a required Kptfile is absent, BP1111 for a file that is too deep. */
  listPackageFailures(wants: 'kptfile' | 'folder' = 'kptfile'): readonly Failure[] {
    const missing =
      wants === 'folder' || !this.isFolder
        ? []
        : [createNoKptfileFailure(this.resolveLocation(PACKAGE_FILE))]
    const deep = [...this.files.keys()].find((path) => path.split('/').length > MAX_FOLDERS + 1)
    return deep === undefined
      ? missing
      : [
          ...missing,
          createTooDeepFailure(
            this.resolveLocation(deep.split('/').slice(0, MAX_FOLDERS).join('/')),
          ),
        ]
  }

  listConfigFailures(): readonly Failure[] {
    return [...this.kptfiles].flatMap(([folder, kptfile]) =>
      checkFunctionConfigs(kptfile, folder, this),
    )
  }

  /** Without those of subpackages, in kpt's order. */
  listOwnFiles(folder: string): ReadonlySet<string> {
    const known = this.own.get(folder)
    if (known !== undefined) return known
    const prefix = folder === '' ? '' : `${folder}/`
    const below = [...this.kptfiles.keys()]
      .filter((other) => other !== folder && other.startsWith(prefix))
      .map((other) => `${other}/`)
    const paths = [...this.files.keys()].filter(
      (path) => path.startsWith(prefix) && !below.some((other) => path.startsWith(other)),
    )
    const walked = walkPackage(
      paths.map((path) => path.slice(prefix.length)),
      (ignore) => this.ignoreText(prefix + ignore),
    )
    const own = new Set(
      walked.map((path) => prefix + path).filter((path) => isKptfile(path) || MANIFEST.test(path)),
    )
    this.own.set(folder, own)
    return own
  }

  /** @throws Failure BP1204 if a path of a resource is a folder of the package */
  assertNoFolder(paths: Iterable<string>): void {
    for (const path of paths) {
      if (
        this.files.has(path) ||
        ![...this.files.keys()].some((file) => file.startsWith(`${path}/`))
      )
        continue
      throw new Failure({
        code: 'BP1204',
        what: 'the output of the pipeline is not a package',
        where: this.resolveLocation(path),
        why: `config.kubernetes.io/path cannot be a directory: ${path}`,
        remedy: 'correct the function that sets the path of the resource',
        retry: 'on-change',
      })
    }
  }

  /**
   * In kpt's order, including Kptfiles.
   * @param more added by a render
   */
  walk(more: Iterable<string> = []): readonly string[] {
    const paths = walkPackage([...new Set([...this.files.keys(), ...more])], (ignore) =>
      this.ignoreText(ignore),
    )
    return paths.filter(
      (path) => isKptfile(path) || MANIFEST.test(path) || this.files.get(path)?.mode === '160000',
    )
  }

  isLinkToReadFile(path: string): boolean {
    const file = this.files.get(path)
    if (file?.mode !== '120000') return false
    const link = new TextDecoder().decode(file.content)
    const target = goClean(`${path.slice(0, path.lastIndexOf('/') + 1)}${link}`)
    return (
      !link.startsWith('/') && this.files.has(target) && this.explainUnread(target) === undefined
    )
  }

  explainUnread(path: string): string | undefined {
    const file = this.files.get(path)
    if (file === undefined) return undefined
    if (file.mode === '120000') return 'a symbolic link is not followed'
    if (file.mode === '160000') return 'a submodule is not read'
    const start = new TextDecoder().decode(file.content.subarray(0, LFS_POINTER.length))
    return start === LFS_POINTER
      ? 'the file is in Git LFS, and only its pointer is in the commit'
      : undefined
  }

  /** @throws Failure BP1110 or BP1111 if it is not text for a YAML reader */
  readText(path: string): string {
    const file = this.files.get(path)
    return file === undefined ? '' : decodeYaml(file.content, this.resolveLocation(path))
  }

  ignoreText(path: string): string {
    const file = this.files.get(path)
    return file === undefined || file.mode === '120000'
      ? ''
      : new TextDecoder().decode(file.content)
  }

  private readKptfile(path: string): void {
    const file = this.files.get(path)
    if (file === undefined || file.mode === '120000' || file.mode === '160000') return
    try {
      const read = readKnownKptfile(this.readText(path), this.resolveLocation(path))
      if ('failures' in read) this.kptfileFailures.set(path, read.failures)
      else
        this.kptfiles.set(
          path.slice(0, Math.max(0, path.length - PACKAGE_FILE.length - 1)),
          read.kptfile,
        )
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
      this.kptfileFailures.set(path, [thrown])
    }
  }
}

/** Such a package is a separate unit. */
function omitSubpackages(files: PackageFiles): PackageFiles {
  const below = files.flatMap(({ path }) =>
    isKptfile(path) ? [path.slice(0, -PACKAGE_FILE.length)] : [],
  )
  return below.length === 0 || below.includes('')
    ? files
    : files.filter(({ path }) => !below.some((folder) => path.startsWith(folder)))
}

/** For other files only the name matters. */
export function isReadOf(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return (
    name === PACKAGE_FILE ||
    name === IGNORE_FILE ||
    MANIFEST.test(name) ||
    KUSTOMIZATION_NAMES.includes(name)
  )
}

export function isKptfile(path: string): boolean {
  return path === PACKAGE_FILE || path.endsWith(`/${PACKAGE_FILE}`)
}

function createTooDeepFailure(where: string): Failure {
  return new Failure({
    code: 'BP1111',
    what: 'the package is deeper than the limit',
    where: `${where.slice(0, 200)}/…`,
    why: `its folders are nested more than ${MAX_FOLDERS} deep`,
    remedy: 'move the files up, or out of the package',
    retry: 'on-change',
  })
}

function createNoKptfileFailure(where: string): Failure {
  return new Failure({
    code: 'BP1004',
    what: 'there is no package',
    where,
    why: 'the folder has no regular file named Kptfile',
    remedy: 'run "kpt pkg init" in the folder and commit the Kptfile',
    retry: 'on-change',
  })
}
