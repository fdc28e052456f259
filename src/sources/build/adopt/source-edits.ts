import { editAuthored } from '../../edits/edit-authored.ts'
import { readSourceText, type SourceFiles } from '../../kustomize/files/kustomize-build.ts'
import { groupEditsByFile, type SourceCandidate } from '../../locate/candidate.ts'

/** @throws Failure BP2007 if an edit cannot be made */
export function applyCandidate(
  files: SourceFiles,
  { edits, texts = new Map() }: SourceCandidate,
): SourceFiles {
  const after = new Map(files)
  const write = (path: string, text: string): void => {
    after.set(path, {
      path,
      mode: files.get(path)?.mode ?? '100644',
      content: new TextEncoder().encode(text),
    })
  }
  for (const [path, list] of groupEditsByFile(edits))
    write(path, editAuthored(getOriginalText(path, files), list, path))
  for (const [path, text] of texts) {
    if (text === null) after.delete(path)
    else write(path, text)
  }
  return after
}

function getOriginalText(path: string, files: SourceFiles): string {
  readSourceText(path, files)
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(
    files.get(path)?.content ?? new Uint8Array(),
  )
}

/** By path from the repository root; null for a removed file. */
export function collectChangedFiles(
  before: SourceFiles,
  after: SourceFiles,
): ReadonlyMap<string, Uint8Array | null> {
  const changed = new Map<string, Uint8Array | null>()
  for (const [path, file] of after) if (file !== before.get(path)) changed.set(path, file.content)
  for (const path of before.keys()) if (!after.has(path)) changed.set(path, null)
  return changed
}
