/** Prints the manifests of a folder. Each object is marked with its file. */
import { PACKAGE_FILE } from '@backporch/kpt/package'
import { Failure } from '@backporch/kyaml/failure'
import {
  formatJson,
  getPartAt,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import {
  decodeYaml,
  type GoYamlDocument,
  listDocumentObjects,
  parseGoYaml,
} from '@backporch/kyaml/read-yaml'
import { getParentFolder } from '../kustomize/files/kustomization-walk.ts'
import { ORIGIN, type SourceFiles } from '../kustomize/files/kustomize-build.ts'

export interface PrintedFile {
  readonly path: string
  readonly text: string
  readonly isLink: boolean
}

interface FileReading {
  readonly chosen: (file: PrintedFile) => boolean
  readonly reads: (object: Json, file: PrintedFile) => boolean
  readonly skipsBroken?: (file: PrintedFile) => boolean
}

/** @throws Failure BP111x of a file */
export function printFiles(
  files: SourceFiles,
  folder: string,
  { chosen, reads, skipsBroken }: FileReading,
): string {
  const prefix = folder === '' ? '' : `${folder}/`
  const packages = [...files.keys()]
    .filter((path) => path.endsWith(`/${PACKAGE_FILE}`))
    .map((path) => `${getParentFolder(path)}/`)
  const printed: string[] = []
  for (const [where, file] of [...files].sort(([one], [other]) => (one < other ? -1 : 1))) {
    // A kpt package is a separate unit, and drift records are not manifests.
    if (
      !where.startsWith(prefix) ||
      where.startsWith('.drift/') ||
      packages.some((each) => each.startsWith(prefix) && where.startsWith(each))
    )
      continue
    const path = where.slice(prefix.length)
    if (!/\.(?:ya?ml|json|jsonnet)$/.test(path)) continue
    const own = {
      path,
      text: new TextDecoder().decode(file.content),
      isLink: file.mode === '120000',
    }
    if (!chosen(own)) continue
    const text = decodeYaml(file.content, where)
    for (const document of parseDocuments(text, where, skipsBroken?.(own) === true))
      for (const { object } of listDocumentObjects(document, text, where))
        if (reads(object, own))
          printed.push(`${formatJson(isJsonObject(object) ? markOrigin(object, path) : object)}\n`)
  }
  return printed.join('---\n')
}

function parseDocuments(
  text: string,
  where: string,
  skipsBroken: boolean,
): readonly GoYamlDocument[] {
  try {
    return parseGoYaml(text, where).documents
  } catch (thrown) {
    if (skipsBroken && thrown instanceof Failure && thrown.code === 'BP1110') return []
    throw thrown
  }
}

function markOrigin(object: JsonObject, path: string): JsonObject {
  const metadata = getPartAt(object, 'metadata')
  const annotations = getPartAt(metadata, 'annotations')
  const origin = { ...(isJsonObject(annotations) ? annotations : {}), [ORIGIN]: `path: ${path}\n` }
  return {
    ...object,
    metadata: { ...(isJsonObject(metadata) ? metadata : {}), annotations: origin },
  }
}
