/**
 * Builds a plain directory as argo-cd 3.2.0 does (`reposerver/repository/repository.go`
 * findManifests, `docs/user-guide/directory.md`).
 */
import {
  findNonEmptyText,
  getKey,
  getPartAt,
  getTextAt,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  parseJson,
} from '@backporch/kyaml/json'
import type { SyncerBuilder } from '../build/built-source.ts'
import { PLAIN_BUILDER } from '../build/plain-builder.ts'
import { type PrintedFile, printFiles } from '../build/print-files.ts'
import { isEmptyList } from '../kpt/render/render-package.ts'
import type { SourceFiles } from '../kustomize/files/kustomize-build.ts'
import { KUSTOMIZE_TOOL } from '../kustomize/kustomize-tool.ts'
import { getDestinationNamespace } from './argo-kustomize.ts'
import {
  type ArgoSource,
  createArgoRefusal,
  overrideNames,
  resolveArgoSource,
} from './argo-source.ts'
import { hasSureBraces, matchesGoGlob } from './go-glob.ts'

const SKIPPED = '+argocd:skip-file-rendering'

export function createArgoDirectory(of: ArgoSource): SyncerBuilder {
  return {
    ...PLAIN_BUILDER,
    fields: ['spec', ...of.at, 'kustomize'],
    overrides: { names: overrideNames(of), field: 'kustomize' },
    tool: KUSTOMIZE_TOOL,
    way: {
      print: (object, folder, files) =>
        printDirectory(
          resolveArgoSource({ ...of, tool: 'directory' }, object, folder, files),
          folder,
          files,
        ),
    },
    namespace: getDestinationNamespace,
  }
}

function printDirectory(source: JsonObject, folder: string, files: SourceFiles): string {
  const recurses = getPartAt(source, 'directory', 'recurse') === true
  const [include, exclude] = [
    findNonEmptyText(source, 'directory', 'include'),
    findNonEmptyText(source, 'directory', 'exclude'),
  ]
  for (const pattern of [include, exclude])
    if (pattern !== undefined && !hasSureBraces(pattern))
      throw createArgoRefusal(
        source,
        `Argo CD reads the braces of the pattern ${pattern} differently than they look`,
      )
  const chosen = ({ path, text, isLink }: PrintedFile): boolean => {
    if (!recurses && path.includes('/')) return false
    if (
      (exclude !== undefined && matchesGoGlob(exclude, path)) ||
      (include !== undefined && !matchesGoGlob(include, path))
    )
      return false
    if (isLink)
      throw createArgoRefusal(source, `${path} is a symbolic link, which is not followed here`)
    if (text.includes(SKIPPED)) return false
    if (path.endsWith('.jsonnet'))
      throw createArgoRefusal(source, `${path} is jsonnet, which is not evaluated here`)
    if (path.endsWith('.json') && !isOneJson(text))
      throw createArgoRefusal(source, `${path} is not one value of JSON`)
    return true
  }
  const reads = (object: Json, { path, text }: PrintedFile): boolean => {
    if (isEmptyList(object)) return false
    // Other YAML files are skipped.
    if (!isJsonObject(object) || findNonEmptyText(object, 'kind') === undefined)
      return path.endsWith('.json') || isLikeManifest(text)
    const items = getKey(object, 'items')
    if (isJsonArray(items))
      throw createArgoRefusal(
        source,
        `Argo CD takes the ${getTextAt(object, 'kind')} in ${path} for a list: it has items`,
      )
    return (
      items !== null ||
      getPartAt(object, 'spec') !== undefined ||
      getPartAt(object, 'status') !== undefined
    )
  }
  return printFiles(files, folder, {
    chosen,
    reads,
    skipsBroken: ({ text }) => !isLikeManifest(text) && !isLikeJson(text),
  })
}

function isLikeManifest(text: string): boolean {
  return ['apiVersion:', 'kind:', 'metadata:'].every((word) => text.includes(word))
}

/** Argo CD reads consecutive JSON objects, which are not valid YAML. */
function isLikeJson(text: string): boolean {
  return /^\uFEFF?\s*\{\s*"/.test(text)
}

function isOneJson(text: string): boolean {
  try {
    parseJson(text)
    return true
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return false
    throw thrown
  }
}
