# diffpbd with everything that generating and identifying need, and a C compiler.
#   docker build -t diffpbd .
#   docker run --rm -v "$PWD:/work" diffpbd generate arm.urdf
FROM python:3.12-slim
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev make && rm -rf /var/lib/apt/lists/*
COPY . /src
RUN pip install --no-cache-dir '/src[all]' && rm -rf /src
WORKDIR /work
ENTRYPOINT ["diffpbd"]
CMD ["--help"]
