/** A package of the catalog in a world, rendered by the real kpt with our functions as its programs, and applied as a syncer would. */
import assert from 'node:assert/strict'
import { parseAllDocuments } from 'yaml'
import { readCatalogPackage, withPrograms } from '../render-corpus/catalog-packages.ts'
import { type FunctionPrograms, runKptRender } from '../render-corpus/run-kpt-render.ts'
import { type Files, SYNCER, type World } from './world.ts'

/** `packages-catalog/web-application` in a namespace of its own; kept rendered, as it is in the catalog. */
export function webApplication(namespace: string, folder = 'apps/web'): Files {
  return Object.fromEntries(
    Object.entries(readCatalogPackage('web-application')).map(([path, text]) => [
      `${folder}/${path}`,
      text.replace(/^( *namespace:) web$/gm, `$1 ${namespace}`),
    ]),
  )
}

/** A package as people keep it who render before they apply: what its functions write is not in its files. */
export function unrendered(files: Files): Files {
  return Object.fromEntries(
    Object.entries(files).map(([path, text]) => [
      path,
      /(Kptfile|setters\.yaml|README\.md)$/.test(path)
        ? text
        : text
            .replace(/^ {2}namespace: .*\n/gm, '')
            .replace(/^ *app\.kubernetes\.io\/part-of: web-application\n/gm, '')
            .replace(/^ {2}labels:\n(?! {4})/gm, '')
            .replace(/(nginx-unprivileged):.*/, '$1')
            .replace(/(LOG_LEVEL): warn/, '$1: unset'),
    ]),
  )
}

export interface KptRendering {
  /** The package's files before, by path in the package, with programs for images. */
  readonly given: Files
  readonly files: Files
}

/** `kpt fn render --allow-exec` over the package as a revision of the repository has it. */
export async function renderWithKpt(
  world: World,
  revision: string,
  folder: string,
  programs: FunctionPrograms,
): Promise<KptRendering> {
  const paths = (
    await world.remote('ls-tree', '-r', '--name-only', revision, '--', `${folder}/`)
  ).split('\n')
  const tree = Object.fromEntries(
    await Promise.all(
      paths.map(
        async (path) => [path.slice(folder.length + 1), await world.show(revision, path)] as const,
      ),
    ),
  )
  const given = withPrograms(tree)
  const { ok, text, files } = await runKptRender(given, programs)
  assert.ok(ok, text)
  return { given, files }
}

type Value = ReturnType<typeof JSON.parse>

/** What a rendered package has to be applied: without the Kptfile and what is for tools only. By `Kind/name`. */
export function objectsOf(files: Files): ReadonlyMap<string, Value> {
  const manifests = Object.entries(files).filter(([path]) => /\.ya?ml$/.test(path))
  const objects: Value[] = manifests.flatMap(([, text]) =>
    parseAllDocuments(text).map((document) => document.toJS()),
  )
  const applied = objects.filter(
    (object) => object?.metadata?.annotations?.['config.kubernetes.io/local-config'] !== 'true',
  )
  return new Map(applied.map((object) => [`${object.kind}/${object.metadata.name}`, object]))
}

/** The syncer of such a package: renders what `main` has, and applies that. @returns what was applied */
export async function syncRendered(
  world: World,
  folder: string,
  programs: FunctionPrograms,
): Promise<ReadonlyMap<string, Value>> {
  const objects = objectsOf((await renderWithKpt(world, 'main', folder, programs)).files)
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [...objects.values()] })
  await world.pipe(
    list,
    'apply',
    '--server-side',
    '--force-conflicts',
    `--field-manager=${SYNCER}`,
    '--filename=-',
  )
  return objects
}
