import type { Build } from '../../sources/programs/package-builder.ts'

export const ENABLE_HELM = '--enable-helm'

export function needsHelm({ tool, command }: Build): boolean {
  return tool === 'helm' || (tool === 'kustomize' && command.includes(ENABLE_HELM))
}

/** Results that vary between runs (Masterminds/sprig `functions.go`). */
const VARYING =
  /\{\{(?:[^}]|\}(?!\}))*?\b(?:rand[A-Z]\w*|gen[A-Z]\w*|uuidv4|now|ago|shuffle|htpasswd|bcrypt|encryptAES|buildCustomCert)\b/

export function mayVary(build: Build): boolean {
  if (!needsHelm(build)) return build.tool === 'command'
  const { files } = build
  // Archives are not read.
  return files.some(
    ({ path, content }) => path.endsWith('.tgz') || VARYING.test(new TextDecoder().decode(content)),
  )
}

/** Judged by the files only. */
export function hasSecrets(build: Build): boolean {
  return (
    build.hasSecrets === true ||
    build.files.some(({ content }) => containsSecret(new TextDecoder().decode(content)))
  )
}

export function containsSecret(text: string): boolean {
  return /secretGenerator|\bkind["']?\s*:\s*["']?Secret\b/.test(text)
}
