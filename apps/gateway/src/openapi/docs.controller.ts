import { Controller, Get, Header, Param, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { MusterError } from '#contracts';
import { Allow } from '../auth/roles.js';
import { ApiDocument } from './document.js';

const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

const types: ReadonlyMap<string, string> = new Map([
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['favicon-32x32.png', 'image/png'],
]);
/** It loads what is this installation's, and stands in no page of a stranger. */
const POLICY =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'";

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><title>Muster API</title>
<link rel="icon" href="/docs/favicon-32x32.png"><link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body><div id="ui"></div>
<script src="/docs/swagger-ui-bundle.js"></script><script src="/docs/start.js"></script>
</body>
</html>
`;

const start = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#ui', deepLinking: true });\n`;

/** The reference as a page, from files of this installation: it works without the internet. */
@ApiExcludeController()
@Controller()
export class DocsController {
  constructor(private readonly document: ApiDocument) {}

  @Get('openapi.json')
  @Allow('anyone', 'This document')
  json() {
    return this.document.value;
  }

  @Get('docs')
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('content-security-policy', POLICY)
  @Allow('anyone', 'The page')
  page() {
    return page;
  }

  @Get('docs/start.js')
  @Header('content-type', 'text/javascript; charset=utf-8')
  @Allow('anyone', 'Its start')
  start() {
    return start;
  }

  @Get('docs/:file')
  @Allow('anyone', 'Its files')
  async file(@Param('file') file: string, @Res() reply: FastifyReply) {
    const type = types.get(file);
    if (type === undefined) throw new MusterError('NOT_FOUND', `no file "${file}"`);
    await reply
      .type(type)
      .header('cache-control', 'max-age=3600')
      .send(await readFile(join(folder, file)));
  }
}
