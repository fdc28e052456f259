import type { ProtectionRequest } from '../ports/forge-setup.ts'

/** @param head sends one request with its body on stdin; every name in it is quoted */
export function formatProtectionCommands(
  requests: readonly ProtectionRequest[],
  head: (request: ProtectionRequest) => string,
): string {
  return requests
    .map(
      (request) =>
        `# ${request.what}\n${head(request)} <<'JSON'\n${JSON.stringify(request.body, null, 2)}\nJSON\n`,
    )
    .join('\n')
}
