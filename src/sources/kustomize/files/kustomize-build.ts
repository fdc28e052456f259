import { KUSTOMIZATION_NAMES } from '@backporch/kpt/package'
import { editYaml } from '@backporch/kyaml/edit-yaml'
import { Failure } from '@backporch/kyaml/failure'
import { createFieldStep } from '@backporch/kyaml/field'
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
import { convertYamlToJson } from '@backporch/kyaml/yaml'
import type { Build } from '../../programs/package-builder.ts'
import { hasCharts } from './helm-charts.ts'
import { joinFolderPath } from './kustomization-walk.ts'

/** From `buildMetadata: [originAnnotations]` (kustomize `api/resource/origin.go`). */
export const ORIGIN = 'config.kubernetes.io/origin'

export type SourceFiles = ReadonlyMap<string, PackageFile>

/** read-built.ts removes the annotation, unless the kustomization requests it itself. */
export function createKustomizeBuild(folder: string, files: SourceFiles): Build {
  const path = findKustomizationPath(folder, files)
  const traced = path === undefined ? undefined : formatTracedText(path, files)
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

export function findKustomizationPath(
  folder: string,
  files: Pick<SourceFiles, 'has'>,
): string | undefined {
  return KUSTOMIZATION_NAMES.map((name) => joinFolderPath(folder, name)).find((path) =>
    files.has(path),
  )
}

export function wantsOrigins(folder: string, files: SourceFiles): boolean {
  const path = findKustomizationPath(folder, files)
  const requested =
    path === undefined ? undefined : getKey(readKustomizationAt(path, files), 'buildMetadata')
  return isJsonArray(requested) && requested.includes('originAnnotations')
}

/**
 * For a syncer that writes the kustomization into the folder.
 * @returns `keepsOrigins`: it already requested the annotation
 */
export function requestOrigins(fields: JsonObject): {
  readonly text: string
  readonly keepsOrigins: boolean
} {
  const requested = getKey(fields, 'buildMetadata')
  const metadata = isJsonArray(requested) ? requested : []
  const keepsOrigins = metadata.includes('originAnnotations')
  const buildMetadata = keepsOrigins ? metadata : [...metadata, 'originAnnotations']
  return { text: `${formatJson({ ...fields, buildMetadata })}\n`, keepsOrigins }
}

function formatTracedText(path: string, files: SourceFiles): string | undefined {
  const requested = getKey(readKustomizationAt(path, files), 'buildMetadata')
  const list = isJsonArray(requested) ? requested : []
  if (list.includes('originAnnotations')) return undefined
  try {
    const value: Json = [...list, 'originAnnotations']
    return editYaml(
      readSourceText(path, files),
      [
        {
          document: 0,
          item: undefined,
          kind: 'set',
          path: [createFieldStep('buildMetadata')],
          value,
        },
      ],
      path,
    )
  } catch (thrown) {
    if (thrown instanceof Failure) return undefined
    throw thrown
  }
}

/** Empty if it cannot be read, which kustomize itself will report. */
export function readKustomizationAt(
  path: string,
  files: SourceFiles,
): { readonly [key: string]: Json } {
  try {
    const [root] = readYamlNodes(readSourceText(path, files).replaceAll('\r\n', '\n'), path)
    const value = root === undefined ? undefined : convertYamlToJson(root)
    return isJsonObject(value) ? value : {}
  } catch (thrown) {
    if (thrown instanceof Failure || thrown instanceof TypeError) return {}
    throw thrown
  }
}

/** @throws Failure BP1110 if the file is not text */
export function readSourceText(path: string, files: SourceFiles): string {
  const file = files.get(path)
  return file === undefined ? '' : decodeYaml(file.content, path)
}
