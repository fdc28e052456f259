import { KUSTOMIZATION_NAMES } from '@backporch/kpt/package'
import { editYaml } from '@backporch/kyaml/edit-yaml'
import { Failure } from '@backporch/kyaml/failure'
import { field } from '@backporch/kyaml/field'
import type { PackageFile } from '@backporch/kyaml/files'
import {
  formatJson,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { decodeYaml, readYamlNodes } from '@backporch/kyaml/read-yaml'
import { jsonOf } from '@backporch/kyaml/yaml'
import type { Build } from '../../programs/package-builder.ts'
import { hasCharts } from './helm-charts.ts'
import { joined } from './kustomization-walk.ts'

/** From `buildMetadata: [originAnnotations]` (kustomize `api/resource/origin.go`). */
export const ORIGIN = 'config.kubernetes.io/origin'

export type SourceFiles = ReadonlyMap<string, PackageFile>

/** read-built.ts removes the annotation, unless the kustomization requests it itself. */
export function kustomizeBuild(folder: string, files: SourceFiles): Build {
  const path = kustomizationOf(folder, files)
  const traced = path === undefined ? undefined : tracedText(path, files)
  const all = [...files.values()].map((file) =>
    traced !== undefined && file.path === path
      ? { ...file, content: new TextEncoder().encode(traced) }
      : file,
  )
  const command = hasCharts(files) ? ['--enable-helm'] : []
  return {
    tool: 'kustomize',
    folder,
    command,
    files: all.sort((one, other) => (one.path < other.path ? -1 : 1)),
  }
}

export function kustomizationOf(
  folder: string,
  files: Pick<SourceFiles, 'has'>,
): string | undefined {
  return KUSTOMIZATION_NAMES.map((name) => joined(folder, name)).find((path) => files.has(path))
}

export function wantsOrigins(folder: string, files: SourceFiles): boolean {
  const path = kustomizationOf(folder, files)
  const requested =
    path === undefined ? undefined : getKey(kustomizationAt(path, files), 'buildMetadata')
  return isJsonArray(requested) && requested.includes('originAnnotations')
}

/**
 * For a syncer that writes the kustomization into the folder.
 * @returns `keepsOrigins`: it already requested the annotation
 */
export function withOrigins(fields: JsonObject): {
  readonly text: string
  readonly keepsOrigins: boolean
} {
  const requested = getKey(fields, 'buildMetadata')
  const metadata = isJsonArray(requested) ? requested : []
  const keepsOrigins = metadata.includes('originAnnotations')
  const buildMetadata = keepsOrigins ? metadata : [...metadata, 'originAnnotations']
  return { text: `${formatJson({ ...fields, buildMetadata })}\n`, keepsOrigins }
}

function tracedText(path: string, files: SourceFiles): string | undefined {
  const requested = getKey(kustomizationAt(path, files), 'buildMetadata')
  const list = isJsonArray(requested) ? requested : []
  if (list.includes('originAnnotations')) return undefined
  try {
    const value: Json = [...list, 'originAnnotations']
    return editYaml(
      textOf(path, files),
      [{ document: 0, item: undefined, kind: 'set', path: [field('buildMetadata')], value }],
      path,
    )
  } catch (thrown) {
    if (thrown instanceof Failure) return undefined
    throw thrown
  }
}

/** Empty if it cannot be read, which kustomize itself will report. */
export function kustomizationAt(
  path: string,
  files: SourceFiles,
): { readonly [key: string]: Json } {
  try {
    const [root] = readYamlNodes(textOf(path, files).replaceAll('\r\n', '\n'), path)
    const value = root === undefined ? undefined : jsonOf(root)
    return isJsonObject(value) ? value : {}
  } catch (thrown) {
    if (thrown instanceof Failure || thrown instanceof TypeError) return {}
    throw thrown
  }
}

/** @throws Failure BP1110 if the file is not text */
export function textOf(path: string, files: SourceFiles): string {
  const file = files.get(path)
  return file === undefined ? '' : decodeYaml(file.content, path)
}
